# floors.awk - a file includes only modules that stand below it
#
#   awk -f tests/lint/floors.awk doc/floors.txt FILE...
#
# floors.txt: one module a line from bottom to top; "#" begins a comment. A
# file may include the modules listed before it and its own header. A part of a
# module, MODULE_PART.c, is listed like any other. Generated headers are named
# below with the one module that may include them.

BEGIN { generated["seccomp"] = "sandbox" }

function say(text)
{
	print FILENAME ":" FNR ": " text
	is_bad = 1
}

# floors.txt
FNR == NR {
	if ($1 == "" || $1 ~ /^#/)
		next
	if ($1 in floor)
		say($1 " is listed twice")
	floor[$1] = ++height
	next
}

FNR == 1 {
	module = FILENAME
	sub(/^.*\//, "", module)
	sub(/\.[ch]$/, "", module)
	if (!(module in floor))
		say(module " is not in doc/floors.txt")
	seen[module] = 1
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, part, "\"")
	name = part[2]
	sub(/\.h$/, "", name)
	if (name == module || (name in generated && generated[name] == module))
		next
	if (!(name in floor))
		say("\"" part[2] "\" is no module of doc/floors.txt")
	else if ((module in floor) && floor[name] > floor[module])
		say(module " stands below " name " and may not include it")
}

END {
	for (name in floor)
		if (!(name in seen)) {
			print "doc/floors.txt: no file of module " name
			is_bad = 1
		}
	exit is_bad
}
