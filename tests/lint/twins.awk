# twins.awk - no block of code exists twice
#
#   awk -f tests/lint/twins.awk FILE...
#
# Reports the first of every run of SPAN equal lines that another place has,
# too. Blank lines, comments, preprocessor lines and lone braces do not count.

BEGIN { SPAN = 6 }

FNR == 1 { filled = 0; was_twin = 0; in_comment = 0 }

{
	line = $0
	gsub(/[ \t]+/, " ", line)
	gsub(/^ | $/, "", line)
	if (in_comment) {
		if (line ~ /\*\//)
			in_comment = 0
		next
	}
	if (line ~ /^\/\*/) {
		if (line !~ /\*\//)
			in_comment = 1
		next
	}
	if (line == "" || line ~ /^[#{}]/)
		next

	where[filled % SPAN] = FILENAME ":" FNR
	text[filled % SPAN] = line
	filled++
	if (filled < SPAN)
		next
	block = ""
	for (i = filled; i < filled + SPAN; i++)
		block = block "\n" text[i % SPAN]
	first = where[filled % SPAN]
	if (!(block in seen)) {
		seen[block] = first
		was_twin = 0
	} else if (!was_twin) {
		print first ": the same " SPAN " lines as " seen[block]
		was_twin = is_bad = 1
	}
}

END { exit is_bad }
