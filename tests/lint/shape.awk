# shape.awk - sizes of C files and functions, opening comments, words
#
#   awk -f tests/lint/shape.awk doc/floors.txt tests/lint/exceptions FILE...
#
# Budgets: function 60 lines, nesting 3, file 600 lines, header 120. Relies on
# the project's format: a function's braces stand in column 1, one tab indents
# one level. exceptions: "WHAT WHERE reason", where WHAT and WHERE are what the
# message says in brackets; one without use is reported, too.

BEGIN {
	KEYWORD = "^\t+(if|for|while|switch|do|else)([^a-z_0-9]|$)"
	ALLOCATES = "(^|[^a-z_0-9])(malloc|calloc|realloc|strn?dup|v?asprintf" \
		    "|alloca|getline)[(]"
	may_die["sandbox"] = may_die["log"] = 1
}

function say(what, where, text)
{
	if ((what, where) in excepted) {
		used[what, where] = 1
		return
	}
	print at ": " text " [" what " " where "]"
	is_bad = 1
}

function end_of_file()
{
	at = file
	if (file ~ /\.h$/ && file !~ /^(tests|perf)\// && lines > 120)
		say("header", file, lines " lines, 120 are the limit")
	if (lines > 600)
		say("file", file, lines " lines, 600 are the limit")
}

# floors.txt: the modules below the heading "# assembly"
FILENAME ~ /floors\.txt$/ {
	if (/^# /)
		is_assembly = /^# assembly/
	else if (is_assembly && NF)
		may_die[$1] = 1
	next
}

FILENAME ~ /exceptions$/ {
	if ($1 == "" || $1 ~ /^#/)
		next
	excepted[$1, $2] = 1
	if (NF < 4) {
		print FILENAME ":" FNR ": an exception needs a reason"
		is_bad = 1
	}
	next
}

FNR == 1 {
	if (file)
		end_of_file()
	file = FILENAME
	base = file
	sub(/^.*\//, "", base)
	module = base
	sub(/\.[ch]$/, "", module)
	begin = 0
	in_comment = 0
	at = file ":1"
	if (index($0, "/* " base " - ") != 1)
		say("opening", file, "does not open with \"/* " base " - ...\"")
}

{ lines = FNR; at = FILENAME ":" FNR }

/(^|[^A-Za-z_])(TODO|FIXME|XXX)([^A-Za-z_]|$)/ {
	say("word", file, "an open end needs an issue, not a comment")
}

# Code only from here on: comments and strings go
{
	gsub(/"([^"\\]|\\.)*"/, "\"\"")
	if (in_comment) {
		if (!sub(/^.*\*\//, ""))
			next
		in_comment = 0
	}
	gsub(/\/\*([^*]|\*[^\/])*\*\//, "")
	if (sub(/\/\*.*$/, ""))
		in_comment = 1
}

/^[a-z].*\(/ {
	name = $0
	sub(/\(.*$/, "", name)
	sub(/^.*[ *]/, "", name)
}

/^\{/ { begin = FNR }

/^\}/ && begin {
	if (FNR - begin - 1 > 60)
		say("function", base ":" name, name "() has " FNR - begin - 1 \
		    " lines, 60 are the limit")
	begin = 0
}

begin && $0 ~ KEYWORD {
	match($0, /^\t+/)
	if (RLENGTH > 3)
		say("nesting", base ":" name, name "() nests " RLENGTH \
		    " deep, 3 is the limit")
}

$0 ~ ALLOCATES {
	say("allocation", file, "the program does not allocate")
}

/(^|[^a-z_0-9])die\(/ && file !~ /^(tests|perf)\// &&
!(module in may_die) {
	say("die", file, "only the assembly floor and sandbox may die()")
}

END {
	end_of_file()
	for (e in excepted)
		if (!(e in used)) {
			split(e, part, SUBSEP)
			print "tests/lint/exceptions: not needed: " part[1] \
			      " " part[2]
			is_bad = 1
		}
	exit is_bad
}
