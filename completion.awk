# completion.awk - what shells need to complete an option, from the help text
#
#   ./pasta --help | awk -v shell=bash -v program=pasta -f completion.awk
#
# shell: bash, zsh or fish. A line of the help is an option: an optional letter,
# its name, optionally the name of its argument, and a few words, which stand on
# the next line if there is no room. PATH is completed as a file, NAME as an
# interface, and words with bars between them as one of those in small letters.

BEGIN {
	if (shell !~ /^(bash|zsh|fish)$/ || program == "") {
		print "completion.awk: give shell=bash|zsh|fish and program=NAME" \
			> "/dev/stderr"
		exit 1
	}
}

/^  (-.,|   ) --/ {
	letter[++n] = substr($0, 3, 1) == "-" ? substr($0, 3, 2) : ""
	rest = substr($0, 7)
	name[n] = rest
	sub(/ .*/, "", name[n])
	rest = substr(rest, length(name[n]) + 1)
	if (rest ~ /^ [^ ]/) {
		argument[n] = substr(rest, 2)
		sub(/ .*/, "", argument[n])
		rest = substr(rest, length(argument[n]) + 2)
	}
	sub(/^ +/, "", rest)
	help[n] = rest
	next
}

/^ +[^ ]/ && n && help[n] == "" {
	sub(/^ +/, "")
	help[n] = $0
}

# Words that an argument may be, with blanks between
function words(i,    part, k, count, text)
{
	count = split(argument[i], part, "|")
	for (k = 1; k <= count; k++)
		if (part[k] ~ /^[a-z]+$/)
			text = text (text == "" ? "" : " ") part[k]
	return text
}

function is_path(i)
{
	return argument[i] ~ /^PATH/
}

function is_interface(i)
{
	return name[i] ~ /^--(interface|outbound-if[46])$/
}

function quoted(text)
{
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}

function bash_case(i, action)
{
	printf "\t%s%s) %s; return ;;\n", letter[i] == "" ? "" : letter[i] "|",
		name[i], action
}

function bash(    i, all)
{
	print "# Completion of " program ", made from its help\n"
	print "_" program "()\n{"
	print "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}"
	print "\tif [ \"$cur\" = = ]; then cur=''"
	print "\telif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi"
	print "\tCOMPREPLY=()"
	print "\tcase $prev in"
	for (i = 1; i <= n; i++) {
		all = all (letter[i] == "" ? "" : " " letter[i]) " " name[i]
		if (argument[i] == "")
			continue
		if (is_path(i))
			bash_case(i, "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")")
		else if (is_interface(i))
			bash_case(i, "mapfile -t COMPREPLY < <(compgen -W \"$(ls /sys/class/net)\" -- \"$cur\")")
		else if (words(i) != "")
			bash_case(i, "mapfile -t COMPREPLY < <(compgen -W '" words(i) "' -- \"$cur\")")
		else
			bash_case(i, ":")
	}
	print "\tesac"
	print "\tcase $cur in"
	print "\t-*) mapfile -t COMPREPLY < <(compgen -W '" substr(all, 2) "' -- \"$cur\") ;;"
	if (program == "pasta")
		print "\t*) mapfile -t COMPREPLY < <(compgen -c -- \"$cur\") ;;"
	print "\tesac\n}\n"
	print "complete -F _" program " " program
}

function zsh_action(i)
{
	if (is_path(i))
		return "_files"
	if (is_interface(i))
		return "_net_interfaces"
	return words(i) == "" ? " " : "(" words(i) ")"
}

function zsh(    i, text, spec)
{
	print "#compdef " program
	print "# Completion of " program ", made from its help\n"
	print "_arguments -s -S \\"
	for (i = 1; i <= n; i++) {
		text = help[i]
		gsub(/[][]/, "\\\\&", text)
		spec = "[" text "]"
		if (argument[i] != "") {
			text = argument[i]
			gsub(/:/, "\\:", text)
			spec = spec ":" text ":" zsh_action(i)
		}
		if (letter[i] != "")
			printf "\t%s%s \\\n", quoted("*" letter[i] (argument[i] == "" ? "" : "+")), quoted(spec)
		printf "\t%s%s \\\n", quoted("*" name[i] (argument[i] == "" ? "" : "=")), quoted(spec)
	}
	print program == "pasta" ? "\t'*::command:_normal'" : "\t&& return"
}

function fish(    i, line)
{
	print "# Completion of " program ", made from its help\n"
	if (program == "passt")
		print "complete -c passt -f"
	for (i = 1; i <= n; i++) {
		line = "complete -c " program
		if (letter[i] != "")
			line = line " -s " substr(letter[i], 2)
		line = line " -l " substr(name[i], 3)
		if (is_path(i))
			line = line " -rF"
		else if (is_interface(i))
			line = line " -xa '(command ls /sys/class/net)'"
		else if (argument[i] != "")
			line = line " -x" (words(i) == "" ? "" : "a " quoted(words(i)))
		print line " -d " quoted(help[i])
	}
	if (program == "pasta")
		print "complete -c pasta -xa '(__fish_complete_subcommand)'"
}

END {
	if (!n)
		exit 1
	if (shell == "bash")
		bash()
	else if (shell == "zsh")
		zsh()
	else
		fish()
}
