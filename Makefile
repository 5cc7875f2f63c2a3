# make            builds ./passt and ./pasta
# make demo       the main job in half a minute      make perf: the full numbers
# make check      every test; check-fast: without namespaces; check-san: ASan
# make perf-quick perf/run for some minutes       make perf-report: its page anew
# make perf-gate  fails if this tree is slower than the revision in perf/reference
# make fuzz T=60  every fuzz target, T seconds each
# make trace-renew the instruction counts that "make check" compares with
# make lint, make format, make install, make clean, make compile_commands.json
# V=1 shows commands, CI=true makes warnings errors, LTO=1 optimises at link.
#
# No list of files is kept by hand: every *.c here is part of the program, and
# tests/DIR/*.c are programs of their own.

SRC := $(sort $(wildcard *.c))
UNIT := $(patsubst %.c,%,$(sort $(wildcard tests/unit/*_test.c)))
FUZZ := $(patsubst %.c,%,$(sort $(wildcard tests/fuzz/*_fuzz.c)))
KERNEL := $(patsubst %.c,%,$(sort $(wildcard tests/kernel/*.c)))
WIRE_LIB := $(sort $(wildcard tests/wire/lib*.c))
WIRE := $(patsubst %.c,%,$(filter-out $(WIRE_LIB),$(sort $(wildcard tests/wire/*.c))))
# Helper programs of scripts, and benchmarks; X_PART.c is a part of program X
TOOLS := $(patsubst %.c,%,$(sort $(wildcard tests/ns/*.c perf/*.c)))
TOOLS := $(filter-out $(foreach t,$(TOOLS),$(basename $(wildcard $(t)_*.c))),$(TOOLS))
TRACE := $(sort $(wildcard tests/trace/*.c))
TEST_H := $(wildcard *.h tests/*.h tests/*/*.h perf/*.h perf/lib/*.h)
# Pure floors: no system calls, so any test may link them
PURE := $(filter $(SRC),$(addsuffix .c,addr csum hash run lru policy pkt head arp ndp icmperr frag resolv \
	dnsname dhcp dhcp6 mcast))

B := build
PREFIX ?= /usr/local
T ?= 60
VERSION := $(or $(VERSION),$(shell git describe --always --dirty 2>/dev/null || \
	   cat VERSION 2>/dev/null || date -u +%Y%m%d))

CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wvla -Wimplicit-fallthrough \
	$(if $(filter true 1,$(CI)),-Werror)
OPT := -O2 -g $(if $(LTO),-flto)
HARDEN := -fPIE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(OPT) $(WARN) $(HARDEN) $(CFLAGS)
ALL_LDFLAGS = $(OPT) -pie -Wl,-z,relro,-z,now $(LDFLAGS)

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' $(1) $@;)
SUB := $(MAKE) --no-print-directory

all: passt pasta ; @:

passt: $(SRC:%.c=$(B)/%.o)
	$(call say,LD)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^

pasta: passt
	$(Q)ln -sf passt $@

$(B)/%.o: %.c $(B)/flags
	$(call say,CC)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(EXTRA) -MMD -MP -c -o $@ $<

$(PURE:%.c=$(B)/%.o): EXTRA := -Wconversion
$(B)/sandbox.o: EXTRA := -I$(B)
$(B)/sandbox.o: $(B)/seccomp.h
$(B)/cmdline.o $(B)/passt.o: EXTRA := -DVERSION='"$(VERSION)"'
$(B)/cmdline.o $(B)/passt.o: $(B)/version

# System call lists, from comments beside the calls. The file keeps its time if
# nothing changed, so an edit elsewhere does not rebuild the sandbox.
$(B)/seccomp.h: $(B)/seccomp.stamp ;
$(B)/seccomp.stamp: seccomp.awk $(SRC)
	$(Q)mkdir -p $(B) && awk -f seccomp.awk $(SRC) > $(B)/seccomp.tmp
	$(Q)cmp -s $(B)/seccomp.tmp $(B)/seccomp.h || mv $(B)/seccomp.tmp $(B)/seccomp.h
	$(Q)touch $@

# Other flags, other objects
$(B)/flags: NOTE = $(CC) $(ALL_CFLAGS)
$(B)/version: NOTE = $(VERSION)
$(B)/flags $(B)/version: force
	@mkdir -p $(B); echo '$(NOTE)' | cmp -s - $@ || echo '$(NOTE)' > $@

# Tests. A unit or fuzz program links its module and what deps.mk lists: a
# module that reaches above its floor does not link.
-include tests/unit/deps.mk
objs = $(addprefix $(B)/,$(addsuffix .o,$(1) $(sort $(deps_$(1)))))
TEST_CC = $(CC) $(ALL_CFLAGS) -iquote . -iquote tests

.SECONDEXPANSION:
$(UNIT:%=$(B)/%): $(B)/tests/unit/%_test: tests/unit/%_test.c $$(call objs,$$*) $(TEST_H)
	$(call say,TEST)mkdir -p $(@D) && $(TEST_CC) $(ALL_LDFLAGS) -o $@ $(filter %.c %.o,$^)

$(FUZZ:%=$(B)/%): $(B)/tests/fuzz/%_fuzz: tests/fuzz/%_fuzz.c tests/fuzz/replay.c $$(call objs,$$*) $(TEST_H)
	$(call say,TEST)mkdir -p $(@D) && $(TEST_CC) $(ALL_LDFLAGS) -o $@ $(filter %.c %.o,$^)

$(FUZZ:%=$(B)/libfuzzer/%): $(B)/libfuzzer/tests/fuzz/%_fuzz: tests/fuzz/%_fuzz.c $$(call objs,$$*) $(TEST_H)
	$(call say,FUZZ)mkdir -p $(@D) && $(TEST_CC) -fsanitize=fuzzer $(ALL_LDFLAGS) -o $@ $(filter %.c %.o,$^)

$(WIRE:%=$(B)/%): $(WIRE_LIB)
$(TOOLS:%=$(B)/%): $(B)/%: $$(sort $$(wildcard $$*_*.c))
$(B)/perf/udpload $(B)/perf/tcpload: perf/lib/load.c
$(B)/perf/tcpload: perf/udpload_hist.c
PROGRAMS := $(WIRE) $(KERNEL) $(TOOLS)
$(PROGRAMS:%=$(B)/%): $(B)/%: %.c $(TEST_H) $(PURE:%.c=$(B)/%.o)
	$(call say,TEST)mkdir -p $(@D) && $(TEST_CC) $(ALL_LDFLAGS) -o $@ $(filter %.c %.o,$^)

# A fixed trace runs through all of the program but its main()
$(B)/tests/trace/replay: $(TRACE) $(filter-out $(B)/passt.o,$(SRC:%.c=$(B)/%.o)) $(TEST_H)
	$(call say,TEST)mkdir -p $(@D) && $(TEST_CC) $(ALL_LDFLAGS) -o $@ $(filter %.c %.o,$^)

build-unit: $(UNIT:%=$(B)/%) ; @:
build-fuzz: $(FUZZ:%=$(B)/%) ; @:
build-tools: all $(TOOLS:%=$(B)/%) ; @:
perf-tools: $(filter $(B)/perf/%,$(TOOLS:%=$(B)/%)) ; @:
build-san:
	$(Q)$(SUB) B=build/san CFLAGS="$(SAN) $(CFLAGS)" build-unit build-fuzz
build-libfuzzer:
	$(Q)$(SUB) B=build/clang CC=clang CFLAGS="$(SAN) -fsanitize=fuzzer-no-link" \
		$(FUZZ:%=build/clang/libfuzzer/%)
build-tests: all build-unit build-san $(PROGRAMS:%=$(B)/%) $(B)/tests/trace/replay ; @:

check:
	$(Q)tests/install-deps check
	$(Q)$(SUB) build-tests
	$(Q)tests/run all
check-fast: build-tests
	$(Q)tests/run unit corpus trace wire
check-san: build-san
	$(Q)tests/run unit-san corpus
demo:
	$(Q)tests/install-deps demo
	$(Q)$(SUB) all perf-tools
	$(Q)perf/demo
perf: all perf-tools
	$(Q)perf/compare
perf-quick: all perf-tools
	$(Q)tests/install-deps perf
	$(Q)perf/run --level quick --reps 2 --report
perf-gate: all perf-tools
	$(Q)perf/gate $(AGAINST)
perf-selftest: all perf-tools
	$(Q)perf/selftest
trace-renew: $(B)/tests/trace/replay
	$(Q)tests/trace/instructions.py --renew
perf-report:
	$(Q)perf/report $(R)
fuzz: build-libfuzzer
	$(Q)tests/fuzz/run $(T)
lint:
	$(Q)tests/lint/run
format:
	$(Q)clang-format -i *.[ch] tests/*.h tests/*/*.[ch] perf/*.[ch] perf/lib/*.[ch]

compile_commands.json: Makefile $(SRC)
	$(Q)for f in $(SRC) $(wildcard tests/*/*.c perf/*.c); do \
	  jq -n --arg f "$$f" --arg d "$(CURDIR)" --arg c \
	  '$(CC) $(ALL_CFLAGS) -DVERSION="" -iquote . -iquote tests -iquote $(B) -c'" $$f" \
	  '{directory: $$d, file: $$f, command: $$c}'; done | jq -s . > $@

# Shell completions, from the help text
$(B)/completion/%: completion.awk passt pasta
	$(Q)mkdir -p $(@D) && ./$(basename $*) --help | \
	awk -v program=$(basename $*) -v shell=$(subst .,,$(suffix $*)) -f $< > $@
completions: $(foreach p,pasta passt,$(foreach s,bash zsh fish,$(B)/completion/$(p).$(s))) ; @:

install: all completions
	install -D -m 755 passt $(DESTDIR)$(PREFIX)/bin/passt
	ln -sf passt $(DESTDIR)$(PREFIX)/bin/pasta
	for m in $(wildcard *.1); do \
	  install -D -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man1/$$m; done
	for p in pasta passt; do c=$(B)/completion/$$p s=$(DESTDIR)$(PREFIX)/share; \
	  install -D -m 644 $$c.bash $$s/bash-completion/completions/$$p; \
	  install -D -m 644 $$c.zsh $$s/zsh/site-functions/_$$p; \
	  install -D -m 644 $$c.fish $$s/fish/vendor_completions.d/$$p.fish; done

clean:
	$(Q)rm -rf build passt pasta compile_commands.json

-include $(wildcard $(B)/*.d)
.PHONY: all force build-unit build-fuzz build-tools perf-tools build-san build-libfuzzer \
	build-tests completions check check-fast check-san demo perf perf-gate perf-selftest perf-quick \
	perf-report trace-renew fuzz lint format install clean
