# make            build the program and the library       make V=1       show commands
# make demo       build, then run the first example       make help      this text
# make test       everything below up to tsan, counted    make clean
# make unit       C tests (TESTS=map_test for one)        make spec      specs in the host
# make e2e        the built program as users run it       make examples  run and simulate each
# make lint       format, luacheck, tidy                  make tidy      the house rules alone
# make clang      compile all with clang                  make asan      clang, with sanitizers
# make tsan       the journal's threads                   make fuzz      parsers, FUZZ_SECONDS each
# make bench      measure; FULL=1: all sizes              make soak      many seeds, SEEDS=1..N
# make mutants    faults planted in our own code, each of which a test must catch
# make deps       install what tests need (Debian)        make install   PREFIX, DESTDIR
# make uninstall  remove what install put there          make screenshots  those of docs/page.md
# make deb        a Debian package, below build/
# make docs       the documents as a site with search, in build/docs

ifeq ($(origin CC),default)
CC = gcc
endif
CFLAGS  ?= -O2 -g
LUA     ?= lua5.4
PREFIX  ?= /usr/local
BUILD   ?= build
WERROR  ?=
Q        = $(if $(V),,@)

# Asked once, and not before a compiler runs: `deps` may have to come first.
PKGS      = lua5.4 libuv sqlite3 libcurl libmicrohttpd libcrypto hiredis libseccomp
# Without hiredis' size of off_t: Debian's is 64 bits wide anyway, and with it a library put
# before the C library (tests/preload) would define pwrite64 twice.
PKG_FLAGS = $(eval PKG_FLAGS := $(filter-out -D_FILE_OFFSET_BITS=64,$(shell pkg-config --cflags $(PKGS))))$(PKG_FLAGS)
PKG_LIBS  = $(eval PKG_LIBS := $(shell pkg-config --libs $(PKGS)))$(PKG_LIBS)

WARN    = -Wall -Wextra -Wshadow -Wundef -Wwrite-strings -Wconversion \
          -Wmissing-prototypes -Wstrict-prototypes $(WERROR)
# Hardening, as far as the compiler has it for this machine. Sanitizers bring checks of their
# own, and without optimization there is no _FORTIFY_SOURCE. CFLAGS come last and win. Of CET
# the shadow stack: Linux checks no jumps in programs, and marking their targets costs 1 %.
HARD_TRY   = -fstack-protector-strong -fstack-clash-protection -fcf-protection=return \
             -mbranch-protection=standard
HARD_KNOWN = $(eval HARD_KNOWN := $(foreach flag,$(HARD_TRY),$(shell \
  $(CC) -Werror $(flag) -x c -c /dev/null -o /dev/null 2>/dev/null && echo $(flag))))$(HARD_KNOWN)
HARD_FLAGS = $(if $(findstring -fsanitize,$(CFLAGS)),,$(HARD_KNOWN) \
  $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARD_LINK  = -Wl,-z,relro,-z,now,-z,noexecstack $(if $(findstring -fsanitize,$(CFLAGS)),,-pie)
COMPILE = $(CC) -std=c11 -D_GNU_SOURCE $(WARN) -Icore $(PKG_FLAGS) $(HARD_FLAGS) $(CFLAGS)
# -E lets the Lua modules in C that busted needs find Lua inside the program.
LINK    = $(CC) $(CFLAGS) $(HARD_LINK) $(LDFLAGS) -Wl,-E
# Lua inside the program rather than beside it: its calls are then plain calls.
LUA_LIB = $(firstword $(wildcard $(shell pkg-config --variable=libdir lua5.4)/liblua5.4.a) -llua5.4)
# Every Lua state then hashes alike (core/lualib/lua_seed.h), no `..` reaches a __concat where that
# corrupts memory (core/sandbox/sandbox_metatables.c), and scripts have no weak tables
# (core/lualib/lua_weak.h). A shared Lua cannot be told.
LUA_SEED = -Wl,--wrap=luaS_hash,-u,__wrap_luaS_hash,--wrap=luaT_tryconcatTM,-u,__wrap_luaT_tryconcatTM,--wrap=luaT_gettm,-u,__wrap_luaT_gettm
LIBS    = $(PKG_LIBS:-llua5.4=$(LUA_LIB)) $(LUA_SEED) -lwslay -lpthread -ldl -lm

# The layers, lowest first. tests/tidy/layers.lua says who may include whom.
LAYERS  = base env model loop store check net kernel parts sim lualib sandbox worker script bridge world embed
LIB_OBJ = $(patsubst %.c,$(BUILD)/%.o,$(sort $(shell find $(LAYERS:%=core/%) -name '*.c')))
MAIN_OBJ = $(patsubst %.c,$(BUILD)/%.o,$(sort $(shell find core/main -name '*.c')))
TEST_SRC := $(sort $(shell find tests/unit -name '*_test.c'))
TESTS   = $(basename $(notdir $(TEST_SRC)))
UNIT    = $(TESTS:%=$(BUILD)/unit/%)
FUZZ    = $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/*_fuzz.c))
BENCH   = $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*_bench.c))
BENCH_OBJ = $(patsubst bench/%.c,$(BUILD)/bench/%.o,$(filter-out %_bench.c,$(wildcard bench/*.c)))

EMBED   = $(patsubst examples/embed/%.c,$(BUILD)/examples/%,$(wildcard examples/embed/*.c))

# What `make test` runs, in order; each leaves TAP files in build/results/STAGE.
STAGES  = all unit spec e2e examples lint asan tsan
RESULTS = build/results/$(or $(STAGE),$@)
JOBS    = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j2)
AGAIN   = --no-print-directory $(JOBS)

FUZZ_SECONDS ?= 30
SEEDS        ?= 1..2000
SOAK_SEEDS   ?= 1..100000
SOAK_MORE    ?= 1..4000
SOAK_KILLS   ?= 10000
SOAK_ENDS    ?= 20000
SOAK_FLIPS   ?= 5000

.PHONY: all test unit unit_programs spec e2e examples lint tidy format luacheck clang asan tsan \
        fuzz fuzz_programs fuzz_run bench soak mutants screenshots demo deps install uninstall deb docs clean help
all: $(BUILD)/society $(BUILD)/libsociety.a ; @:

$(BUILD)/society: $(MAIN_OBJ) $(BUILD)/libsociety.a
	@echo "  LINK  $@"
	$(Q)$(LINK) $^ $(LIBS) -ledit -o $@
	$(if $(filter -llua5.4,$(LUA_LIB)),@echo "  NOTE  there is no liblua5.4.a: # of a table with holes may differ from run to run and a __concat set after setmetatable is not noticed")

$(BUILD)/libsociety.a: $(LIB_OBJ)
	@echo "  AR    $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Everything is compiled again when the compiler or its flags change. WERROR changes no code.
FLAGS_NOW = $(filter-out -Werror,$(COMPILE))
$(BUILD)/flags: .FORCE
	$(Q)mkdir -p $(@D) && echo '$(FLAGS_NOW)' | cmp -s - $@ || echo '$(FLAGS_NOW)' > $@
.FORCE:

$(BUILD)/core/%.o: core/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(COMPILE) -fPIC -fvisibility=hidden -MMD -MP -c $< -o $@

# A test is built under its bare name, whichever folder it is in.
vpath %_test.c $(sort $(dir $(TEST_SRC)))
$(BUILD)/unit/%: %.c $(BUILD)/libsociety.a
	@mkdir -p $(@D)
	@echo "  TEST  $<"
	$(Q)$(COMPILE) -MMD -MP -MT $@ -MF $@.d -Itests/unit $< $(BUILD)/libsociety.a $(LDFLAGS) $(LIBS) -o $@

$(BUILD)/bench/%.o: bench/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(COMPILE) -MMD -MP -c $< -o $@

$(BENCH): $(BENCH_OBJ)

$(BUILD)/bench/%: bench/%.c $(BUILD)/libsociety.a
	@mkdir -p $(@D)
	@echo "  BENCH $<"
	$(Q)$(COMPILE) -MMD -MP -MT $@ -MF $@.d $< $(BENCH_OBJ) -Wl,-E $(BUILD)/libsociety.a $(LDFLAGS) $(LIBS) -o $@

$(BUILD)/fuzz/%: tests/fuzz/%.c $(BUILD)/libsociety.a
	@mkdir -p $(@D)
	@echo "  FUZZ  $<"
	$(Q)$(COMPILE) -fsanitize=fuzzer -Wno-missing-prototypes $< $(BUILD)/libsociety.a $(LIBS) -o $@

test: deps
	$(Q)rm -rf build/results && mkdir -p build/results
	$(Q)for stage in $(STAGES); do \
	  echo "== $$stage"; began=$$(date +%s); \
	  $(MAKE) $(AGAIN) -k $$stage STAGE=$$stage WERROR=-Werror; \
	  echo "$$stage $$? $$(($$(date +%s) - began))" >> build/results/stages; \
	done
	$(Q)$(LUA) tests/tally.lua build/results

unit_programs: $(UNIT) ; @:
fuzz_programs: $(FUZZ) ; @:

unit: $(UNIT)
	$(Q)tests/unit/run $(RESULTS) $(UNIT)

spec: all
	$(Q)tests/run_spec $(BUILD)/society $(RESULTS) tests/spec

# Twice as many as there are cores: most wait for something.
e2e: all $(BUILD)/preload/disk_faults.so $(BUILD)/preload/clock.so
	$(Q)JOBS=$$((2 * $$(nproc))) tests/run_spec $(BUILD)/society $(RESULTS) tests/e2e

# Put before the C library by specs that make the disk fail or set the clock forward.
$(BUILD)/preload/%.so: tests/preload/%.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(COMPILE) -Wno-missing-prototypes -fPIC -shared $< -ldl -o $@

examples: all $(EMBED)
	$(Q)tests/run_examples $(BUILD)/society $(RESULTS) $(sort $(wildcard examples/[0-9]*.lua))
	$(Q)for e in $(EMBED); do \
	  echo "  EMBED $$e"; $$e $(firstword $(sort $(wildcard examples/[0-9]*.lua))) || exit 1; \
	done

$(BUILD)/examples/%: examples/embed/%.c $(BUILD)/libsociety.a
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(COMPILE) -MMD -MP -MT $@ -MF $@.d $< $(BUILD)/libsociety.a $(LDFLAGS) $(LIBS) -o $@

lint: tidy format luacheck

format:
	$(Q)find $(wildcard core tests bench examples) -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run --Werror

luacheck:
	$(Q)luacheck -q .

tidy:
	$(Q)mkdir -p $(RESULTS)
	$(Q)$(LUA) tests/tidy/tidy.lua || true
	$(Q)busted -o TAP tests/tidy > $(RESULTS)/tidy.tap || { grep -v '^ok' $(RESULTS)/tidy.tap; exit 1; }

clang:
	$(Q)$(MAKE) $(AGAIN) all unit_programs fuzz_programs BUILD=build/clang CC=clang WERROR=-Werror

ASAN_CC    = clang
ASAN_FLAGS = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined \
             -fno-omit-frame-pointer
# `unit` runs all generated cases; for errors of memory a tenth of them is enough.
ASAN_CASES = HISTORIES=$${HISTORIES:-1000} DISK_SEEDS=$${DISK_SEEDS:-25} FLIPS=$${FLIPS:-25}
# By clang, which compiles everything once more this way and has warnings of its own. The
# parts one after the other: each takes all cores for itself.
asan:
	$(Q)export $(ASAN_CASES); failed=0; for part in fuzz_programs unit spec; do \
	  $(MAKE) $(AGAIN) -k $$part BUILD=build/asan CC="$(ASAN_CC)" CFLAGS="$(ASAN_FLAGS)" \
	    STAGE=$(or $(STAGE),asan) WERROR=-Werror || failed=1; \
	done; exit $$failed

# What crosses threads is in the store: what it needs is all that is compiled.
tsan:
	$(Q)$(MAKE) $(AGAIN) unit BUILD=build/tsan CFLAGS="-O1 -g -fsanitize=thread" TESTS="journal_test reader_test" \
	  LAYERS="base env model loop store" STAGE=$(or $(STAGE),tsan) WERROR=-Werror

fuzz:
	$(Q)$(MAKE) $(AGAIN) fuzz_run BUILD=build/fuzz CC=clang CFLAGS="-O1 -g -fsanitize=address,undefined \
	  -fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined"

fuzz_run: $(FUZZ)
	$(Q)for f in $(FUZZ); do \
	  name=$$(basename $$f); mkdir -p $$f.corpus; \
	  $(LUA) tests/fuzz/seeds.lua $$name $$f.corpus || exit 1; \
	  dict=$$(find tests/fuzz -name $$name.dict); \
	  $$f -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -verbosity=0 $${dict:+-dict=$$dict} \
	    $$f.corpus || exit 1; \
	  echo "  fuzz: $$(basename $$f) held for $(FUZZ_SECONDS) s"; \
	done

bench: build/deps-bench all $(BENCH)
	$(Q)for b in $(BENCH); do \
	  echo "== $$(basename $$b)"; SOCIETY=$(BUILD)/society $$b $(if $(FULL),--full) || exit 1; \
	done

soak: all $(BUILD)/unit/disk_test $(BUILD)/unit/damage_test
	$(Q)for e in $(sort $(wildcard examples/[0-9]*.lua)); do \
	  echo "  SOAK  $$e $(SEEDS)"; \
	  $(BUILD)/society sim $$e --seeds $(SEEDS) > /dev/null || exit 1; \
	done
	@echo "  SOAK  the standard scenario $(SOAK_SEEDS)"
	$(Q)$(BUILD)/society sim tests/scenarios/standard.lua --seeds $(SOAK_SEEDS)
	$(Q)for words in "" "kept"; do \
	  echo "  SOAK  the exact scenario $(SOAK_MORE) $$words"; \
	  $(BUILD)/society sim tests/scenarios/exact.lua --seeds $(SOAK_MORE) -- $$words || exit 1; \
	done
	$(Q)for name in laws doors thinkers callers; do \
	  echo "  SOAK  the scenario $$name.lua $(SOAK_MORE)"; \
	  $(BUILD)/society sim tests/scenarios/$$name.lua --seeds $(SOAK_MORE) || exit 1; \
	done
	$(Q)for words in "" "narrow open victim" "kept adopted confirmed few_effects" "open adopted" \
	  "narrow few_effects kept open adopted confirmed victim"; do \
	  echo "  SOAK  the wild scenario $(SOAK_MORE) $$words"; \
	  $(BUILD)/society sim tests/scenarios/wild.lua --seeds $(SOAK_MORE) -- $$words || exit 1; \
	done
	@echo "  SOAK  $(SOAK_KILLS) kills, $(SOAK_ENDS) ends at I/O calls, $(SOAK_FLIPS) flips in each file"
	$(Q)SOCIETY=$(BUILD)/society KILLS=$(SOAK_KILLS) $(BUILD)/society test tests/e2e/crash/kill_spec.lua
	$(Q)DISK_SEEDS=$(SOAK_ENDS) $(BUILD)/unit/disk_test
	$(Q)FLIPS=$(SOAK_FLIPS) $(BUILD)/unit/damage_test
	@echo "  SOAK  5,000 kills of host and workers through files"
	$(Q)FILE_KILLS=5000 $(BUILD)/society test tests/e2e/files/files_kill_spec.lua
	@echo "  SOAK  ten seconds of each fuzzer"
	$(Q)$(MAKE) $(AGAIN) fuzz FUZZ_SECONDS=10
	@echo "  SOAK  100 kills under keyed requests and a stream"
	$(Q)HTTP_KILLS=100 $(BUILD)/society test tests/e2e/http/http_kill_spec.lua
	@echo "  SOAK  three hosts under faults, five minutes"
	$(Q)HOSTS_SECONDS=300 $(BUILD)/society test tests/e2e/hosts/hosts_faults_spec.lua
	@echo "  SOAK  10,000 connections that are held, and an honest client"
	$(Q)SLOW_CLIENTS=10000 $(BUILD)/society test tests/e2e/http/slow_clients_spec.lua
	@echo "  SOAK  retention at full traffic of messages, two minutes"
	$(Q)RETENTION_SECONDS=120 $(BUILD)/society test tests/e2e/run/retention_spec.lua
	@echo "  SOAK  the worst step of the loop under hostile inputs"
	$(Q)STALLS=print $(BUILD)/society test tests/e2e/attack/stalls_spec.lua
	$(Q)STALLS=print $(BUILD)/society test tests/e2e/attack/budgets_spec.lua
	@echo "  SOAK  the page in front of 10,000 agents"
	$(Q)LOAD_SECONDS=300 $(BUILD)/society test tests/e2e/page/load_spec.lua
	$(Q)$(MAKE) --no-print-directory mutants

mutants: all
	$(Q)$(LUA) tests/mutants/run.lua $(BUILD)/mutants

screenshots: all
	$(Q)SHOTS=docs/images $(BUILD)/society test tests/e2e/page/screenshots_spec.lua

demo: build/deps-build
	$(Q)$(MAKE) $(AGAIN) all
	$(Q)state=$$(mktemp -d) && trap 'rm -rf "$$state"' EXIT && \
	  $(BUILD)/society run $(firstword $(sort $(wildcard examples/[0-9]*.lua))) --state "$$state/demo"
	@echo "To see a society at work in your browser: $(BUILD)/society demo"

deps: build/deps-test

build/deps-%: .ci/deps
	$(Q)mkdir -p build && .ci/deps $* && touch $@

SHARE = $(DESTDIR)$(PREFIX)/share
UNITS = $(DESTDIR)$(PREFIX)/lib/systemd/system
BASH_COMPLETION = bash-completion/completions/society
ZSH_COMPLETION = zsh/site-functions/_society
FISH_COMPLETION = fish/vendor_completions.d/society.fish
install: all
	$(Q)install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/include
	$(Q)install -d $(SHARE)/man/man1 $(SHARE)/society $(UNITS)
	$(Q)install -m 755 $(BUILD)/society $(DESTDIR)$(PREFIX)/bin/society
	$(Q)install -m 644 $(BUILD)/libsociety.a $(DESTDIR)$(PREFIX)/lib/libsociety.a
	$(Q)install -m 644 core/society.h $(DESTDIR)$(PREFIX)/include/society.h
	$(Q)install -m 644 docs/society.1 $(SHARE)/man/man1/society.1
	$(Q)install -D -m 644 docs/completion.bash $(SHARE)/$(BASH_COMPLETION)
	$(Q)install -D -m 644 docs/completion.zsh $(SHARE)/$(ZSH_COMPLETION)
	$(Q)install -D -m 644 docs/completion.fish $(SHARE)/$(FISH_COMPLETION)
	$(Q)sed 's|@BINDIR@|$(PREFIX)/bin|' docs/society@.service > $(UNITS)/society@.service
	$(Q)chmod 644 $(UNITS)/society@.service
	$(Q)for tree in lua policies examples web; do \
	  find $$tree -type f -exec install -D -m 644 {} $(SHARE)/society/{} \; || exit 1; \
	done

uninstall:
	$(Q)rm -f $(DESTDIR)$(PREFIX)/bin/society $(DESTDIR)$(PREFIX)/lib/libsociety.a \
	  $(DESTDIR)$(PREFIX)/include/society.h $(SHARE)/man/man1/society.1 \
	  $(SHARE)/$(BASH_COMPLETION) $(SHARE)/$(ZSH_COMPLETION) $(SHARE)/$(FISH_COMPLETION) \
	  $(UNITS)/society@.service
	$(Q)rm -rf $(SHARE)/society

docs: build/deps-docs
	$(Q)$(LUA) docs/site/build.lua $(BUILD)/docs

deb: all
	$(Q)MAKE='$(MAKE)' docs/debian/build $(BUILD)

clean:
	rm -rf build

help:
	@sed -n 's/^# \{0,1\}//p;/^$$/q' Makefile

-include $(LIB_OBJ:.o=.d) $(MAIN_OBJ:.o=.d) $(UNIT:=.d) $(BENCH:=.d) $(BENCH_OBJ:.o=.d) $(EMBED:=.d)
