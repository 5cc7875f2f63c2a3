# seccomp.awk - system call lists from comments to a C header
#
#   awk -f seccomp.awk *.c > build/seccomp.h
#
# Beside the code that makes them, comments name the system calls of a role:
#
#   seccomp(forwarder): read socket(0=AF_INET|AF_INET6)
#
# A list ends with its comment and may continue over several lines of it.
# name(N=A|B): argument N, an int, must be one of up to four values. A call
# named without condition anywhere is allowed without condition. The result has
# one array of struct sandbox_row per role, ended by number -1; calls that an
# architecture lacks are left out by the preprocessor.

BEGIN {
	n_roles = split("forwarder agent reader", roles, " ")
	for (i in roles)
		known[roles[i]] = 1
	ITEM = "^[a-z0-9_]+([(][0-5]=[A-Za-z0-9_]+([|][A-Za-z0-9_]+)*[)])?$"
}

function fail(text)
{
	print FILENAME ":" FNR ": " text > "/dev/stderr"
	is_bad = 1
}

# One system call of a list
function allow(item,    name, arg, part, n, i)
{
	if (item !~ ITEM) {
		fail("not a system call: \"" item "\"")
		return
	}
	name = item
	sub(/[(].*/, "", name)
	if (!((role, name) in condition)) {
		order[role, ++count[role]] = name
		condition[role, name] = ""
	}
	if (item == name) {
		is_free[role, name] = 1
		return
	}
	arg = substr(item, length(name) + 2, 1)
	if (condition[role, name] != "" && condition[role, name] != arg)
		fail(name ": one argument can have a condition, not two")
	condition[role, name] = arg
	item = substr(item, length(name) + 4)
	sub(/[)]$/, "", item)
	n = split(item, part, "|")
	for (i = 1; i <= n; i++)
		add_value(name, part[i])
}

function add_value(name, value)
{
	if ((role, name, value) in has_value)
		return
	has_value[role, name, value] = 1
	if (++n_values[role, name] > 4)
		fail(name ": more than four values")
	values[role, name] = values[role, name] \
			     (n_values[role, name] > 1 ? ", " : "") value
}

FNR == 1 { role = "" }

{
	line = $0
	if (match(line, /seccomp[(][a-z]+[)]: /)) {
		role = substr(line, RSTART + 8, RLENGTH - 11)
		line = substr(line, RSTART + RLENGTH)
		if (!(role in known))
			fail("no such role: " role)
	} else if (role == "") {
		next
	} else {
		sub(/^[ \t]*[*]?/, "", line)
	}
	if (FNR > 1 && line ~ /^\/[ \t]*$/)
		line = "*/" # the comment ended on a line of its own
	is_last = sub(/[*]\/.*/, "", line)
	gsub(/[,;]/, " ", line)
	n = split(line, word, " ")
	for (w = 1; w <= n; w++)
		allow(word[w])
	if (is_last)
		role = ""
}

function print_row(name)
{
	print "#ifdef __NR_" name
	if ((role, name) in is_free)
		print "\t{ __NR_" name ", -1, 0, { 0 } },"
	else
		print "\t{ __NR_" name ", " condition[role, name] ", " \
		      n_values[role, name] ", { " values[role, name] " } },"
	print "#endif"
}

END {
	print "/* seccomp.h - made by seccomp.awk from comments in *.c */"
	for (r = 1; r <= n_roles; r++) {
		role = roles[r]
		print "\nstatic const struct sandbox_row sandbox_" role "[] = {"
		for (i = 1; i <= count[role]; i++)
			print_row(order[role, i])
		print "\t{ -1, -1, 0, { 0 } }\n};"
	}
	exit is_bad
}
