# SPDX-License-Identifier: Apache-2.0
#
# The one build file of Outfox. `make help` lists what it can do.
#
#   variant  what it is for                     objects          programs
#   plain    the release: -O2, hardened         build/obj/plain  build/
#   san      SAN=1: ASan, UBSan and LSan        build/obj/san    build/san/   (tests use clang)
#   tsan     VARIANT=tsan: ThreadSanitizer    build/obj/tsan   build/tsan/
#   fuzz     libFuzzer, used by `make fuzz`     build/obj/fuzz   build/fuzz/
#
# Every source but those of src/cmd goes into liboutfox.a, which the program, the tests, the
# benchmarks and the fuzzers link. A change of compiler or flags rebuilds what it touches.
#
# Yours to set: CC (gcc or clang), CFLAGS, CPPFLAGS, LDFLAGS, WERROR= (warnings do not stop the
# build), V=1 (show the commands), NO_UI=1 (no pages, so no Node is needed), VERSION, COMMIT, PREFIX, DESTDIR, FUZZ_SECONDS.

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

ifeq ($(origin CC),default)
CC := gcc
endif
WERROR       ?= -Werror
PREFIX       ?= /usr/local
FUZZ_SECONDS ?= 60
VERSION      ?= $(shell cat VERSION)
COMMIT       ?= $(or $(shell git --git-dir=.git describe --always --dirty --exclude='*' 2>/dev/null),unknown)

VARIANT := $(if $(filter-out 0,$(SAN)),san,plain)
Q       := $(if $(V),,@)
JOBS    := $(or $(shell nproc 2>/dev/null),2)

# --- What there is -------------------------------------------------------------------------------

CMD_SRCS     := $(sort $(wildcard src/cmd/*.c))
LIB_SRCS     := $(sort $(filter-out $(CMD_SRCS),$(wildcard src/*/*.c)))
SUPPORT_SRCS := $(sort $(wildcard tests/support/*.c))
TEST_SRCS    := $(sort $(wildcard tests/unit/test_*.c))
FUZZ_SRCS    := $(sort $(wildcard tests/fuzz/fuzz_*.c))
BENCH_SRCS   := $(sort $(wildcard bench/*.c))
CC_SRCS      := $(sort $(wildcard instrument/cc/*.c))
RT_SRCS      := $(sort $(wildcard instrument/rt/*.c))
FORMATTED    := $(sort $(wildcard include/*/*.h instrument/*/*.[ch] src/*/*.[ch] tests/*.[ch] tests/*/*.[ch] bench/*.[ch] bench/*/*.[ch]))

GEN := build/gen
OBJ := build/obj/$(VARIANT)
OUT := $(if $(filter plain,$(VARIANT)),build,build/$(VARIANT))
BIN := $(OUT)/outfox
LIB := $(OUT)/liboutfox.a

objects     = $(patsubst %.c,$(OBJ)/%.o,$(1))
CMD_OBJS   := $(call objects,$(CMD_SRCS))
LIB_OBJS    = $(call objects,$(LIB_SRCS)) $(OBJ)/page.o $(LLHTTP_SRCS:$(LLHTTP_DIR)/%.c=$(OBJ)/llhttp/%.o)
AID_OBJS   := $(call objects,$(SUPPORT_SRCS))
TESTS      := $(TEST_SRCS:tests/unit/%.c=build/$(VARIANT)/tests/%)
REPLAYS    := $(FUZZ_SRCS:tests/fuzz/%.c=build/$(VARIANT)/tests/%)
FUZZERS    := $(FUZZ_SRCS:tests/fuzz/%.c=build/fuzz/%)
COMPILER   := build/outfox-cc
RT         := build/liboutfox_rt.a
NATIVE      = $(if $(filter plain,$(VARIANT)),$(if $(RT_SRCS),$(RT)) $(if $(and $(HAS_LLVM),$(CC_SRCS)),$(COMPILER)))
BENCHES    := $(BENCH_SRCS:bench/%.c=$(OUT)/bench/%)
PEERS      := $(OUT)/bench/peers/origin $(OUT)/bench/peers/origin_h2
BARE       := $(OUT)/bench/peers/bare

# What the page needs; and what its checks need on top, where they are wanted or were there before.
UI_HAS := ui/node_modules/.$(if $(filter check-programs bench pictures,$(MAKECMDGOALS))$(wildcard ui/node_modules/.tested-with),tested,built)-with

# --- Libraries -----------------------------------------------------------------------------------
# Nothing here may fail while the file is read: `make demo` and `make test` install first. What is
# missing is said when something is about to be built.

PKGS     := yaml-0.1 libxxhash libuv libnghttp2 openssl sqlite3 zlib expat libdw libelf
pkg       = $(shell pkg-config $(1) 2>/dev/null)
lacks     = $(shell for p in $(1); do pkg-config --exists $$p 2>/dev/null || echo $$p; done)
no_header = $(shell echo '\#include <$(1)>' | $(CC) -E $(PKG_CFLAGS) -xc - >/dev/null 2>&1 || echo $(1))
no_tool   = $(shell command -v $(firstword $(1)) >/dev/null || echo $(firstword $(1)))

# llhttp: a library where the distribution has one, else the C sources that Debian ships, which are
# then compiled into ours, as strict as they can be.
LLHTTP_DIR    := /usr/share/llhttp
LLHTTP_CFLAGS := -isystem /usr/share/include/llhttp -DLLHTTP_STRICT_MODE=1
LLHTTP_SRCS   := $(wildcard $(LLHTTP_DIR)/*.c)
ifneq ($(call pkg,--modversion libllhttp),)
LLHTTP_CFLAGS := $(call pkg,--cflags libllhttp)
LLHTTP_SRCS   :=
PKGS          += libllhttp
endif

# LLVM is for `outfox cc` alone, a program beside outfox; without it all else is built.
LLVM_CONFIG ?= $(firstword $(foreach v,14 15 16 17 18 19,$(shell command -v llvm-config-$(v))) $(shell command -v llvm-config))
HAS_LLVM    := $(and $(LLVM_CONFIG),$(wildcard $(shell $(LLVM_CONFIG) --includedir 2>/dev/null)/llvm-c/Core.h))
# The clang that made LLVM_CONFIG's bitcode is the one that goes with it.
LLVM_CLANG  := $(or $(wildcard $(shell $(LLVM_CONFIG) --bindir 2>/dev/null)/clang),clang)

PKG_CFLAGS  := $(call pkg,--cflags $(PKGS)) $(LLHTTP_CFLAGS)
PKG_LIBS    := $(call pkg,--libs $(filter-out libxxhash,$(PKGS))) # xxhash is used inline
TEST_CFLAGS := -Itests $(call pkg,--cflags cmocka)
TEST_LIBS   := $(call pkg,--libs cmocka)

# --- Flags ---------------------------------------------------------------------------------------

IS_CLANG := $(findstring clang,$(shell $(CC) --version 2>/dev/null))

# The words of $(1) that the compiler accepts.
accepts = $(foreach f,$(1),$(shell echo | $(CC) -Werror $(f) -xc -c -o /dev/null - 2>/dev/null && echo $(f)))

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Wconversion -Wno-sign-conversion \
    -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wcast-qual \
    -Wcast-align -Wwrite-strings -Wformat=2 -Wimplicit-fallthrough -Wdouble-promotion \
    -Wfloat-equal -Wnull-dereference -Wredundant-decls -Wnested-externs -Wmissing-noreturn
WARN_GCC := -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init \
    -Wformat-signedness -Walloc-zero -Wformat-truncation=2 -Wshift-overflow=2 -Warray-bounds=2 \
    -Wtrampolines
WARN_CLANG := -Wcomma -Wconditional-uninitialized -Wmissing-variable-declarations \
    -Wunreachable-code-break -Wassign-enum -Wextra-semi-stmt -Wshorten-64-to-32 -Wheader-guard
WARN += $(if $(IS_CLANG),$(WARN_CLANG),$(WARN_GCC)) $(WERROR)

# SANITIZED tells sources that memory is watched, in whatever way the compiler says so itself.
SANITIZE := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all -DSANITIZED

FLAGS_plain = -O2 -g -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong \
    $(call accepts,-fstack-clash-protection -fcf-protection -fstrict-flex-arrays=3) \
    -fno-omit-frame-pointer -ffunction-sections -fdata-sections
LINK_plain = -Wl,-z,relro,-z,now,--gc-sections

# gcc's guesses about the flow of values go wrong in code that the sanitizers have rewritten.
FLAGS_san = $(SANITIZE) -fsanitize=address,undefined \
    $(if $(IS_CLANG),,-Wno-null-dereference -Wno-maybe-uninitialized -Wno-format-truncation \
        -Wno-array-bounds -Wno-stringop-overflow)
LINK_san = -fsanitize=address,undefined

FLAGS_tsan = -O1 -g -fno-omit-frame-pointer -fsanitize=thread -DSANITIZED
LINK_tsan  = -fsanitize=thread

FLAGS_fuzz = $(SANITIZE) -fsanitize=fuzzer-no-link,address,undefined
LINK_fuzz  = -fsanitize=address,undefined

ALL_CPPFLAGS := -std=c17 -D_GNU_SOURCE -Isrc -Iinclude -I$(GEN) $(PKG_CFLAGS)
ALL_CFLAGS   := $(ALL_CPPFLAGS) $(WARN) -fno-common -fvisibility=hidden $(FLAGS_$(VARIANT)) \
    $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS  := $(FLAGS_$(VARIANT)) $(LINK_$(VARIANT)) $(CFLAGS) $(LDFLAGS)

# What single files need on top: a fuzz target has no header of ours, only main knows the version.
MORE :=
$(OBJ)/tests/%.o $(OBJ)/bench/%.o: MORE := $(TEST_CFLAGS)
$(OBJ)/instrument/cc/%.o: MORE = -isystem $(shell $(LLVM_CONFIG) --includedir) -DCLANG_MAJOR=$(firstword $(subst ., ,$(shell $(LLVM_CONFIG) --version))) -DCLANG='"$(LLVM_CLANG)"'
$(OBJ)/tests/fuzz/%.o: MORE := -Itests -Wno-missing-prototypes
$(OBJ)/src/cmd/main.o: MORE = -DOUTFOX_VERSION='"$(VERSION)"' -DOUTFOX_COMMIT='"$(COMMIT)"'

# --- Targets -------------------------------------------------------------------------------------

.PHONY: all demo check test soak check-programs bench labelled quick-table pictures fuzz fuzz-run lint tidy fmt fmt-check clean install uninstall help
.PHONY: deps deps-test deps-solver FORCE

all: $(BIN) $(NATIVE) ## build build/outfox (SAN=1: build/san/outfox, with sanitizers)

demo: ## install what is missing, build, and find the bug of a web shop
	@tools/install-deps build
	@$(MAKE) --no-print-directory all
	@NO_UI=$(NO_UI) tools/demo $(BIN)

# tests/README.md says what runs where, and why.
check: ## install what is missing, build, run what is quick: unit, cli, docs, format
	@tools/install-deps test
	+@MAKE='$(MAKE)' tools/run-tests --check

test: ## install what is missing, build plain and sanitized, run everything that must hold
	@tools/install-deps test
	+@MAKE='$(MAKE)' tools/run-tests

soak: ## run what takes long: most campaigns sanitized, threads, scale, every torture, hundreds of kills (KILLS=500 TIMES=10 FLOOD_SECONDS=60)
	@tools/install-deps test
	+@MAKE='$(MAKE)' tools/run-tests --soak

# Programs that tools/run-tests runs; the replays feed the fuzzers' saved inputs.
check-programs: $(BIN) $(NATIVE) $(if $(NO_UI),,$(UI_HAS)) $(TESTS) $(REPLAYS) $(if $(filter plain,$(VARIANT)),$(BENCHES))

bench: $(BIN) $(if $(NO_UI),,$(UI_HAS)) $(BENCHES) $(PEERS) $(BARE) ## run the benchmarks; peers: tools/install-deps bench (BENCH_SECONDS=1, _ROUNDS=3)
	@set -e; for b in $(BENCHES); do echo "== $${b##*/}"; $$b; done
	@echo "== proxy"; bench/proxy.py --outfox $(BIN) --peers $(OUT)/bench/peers --json $(OUT)/bench/proxy.jsonl
	@echo "== campaign"; bench/campaign.py --outfox $(BIN) --peers $(OUT)/bench/peers --json $(OUT)/bench/campaign.jsonl
	@echo "== page"; bench/page.py --outfox $(BIN) --json $(OUT)/bench/page.jsonl
	@echo "== tcp"; bench/tcp.py --outfox $(BIN) --json $(OUT)/bench/tcp.jsonl
	@echo "== calls"; bench/calls.py --outfox $(BIN) --json $(OUT)/bench/calls.json
	@echo "== disk"; bench/disk.py --outfox $(BIN) --json $(OUT)/bench/disk.jsonl
	@echo "== triggers"; bench/triggers.py --outfox $(BIN) --json $(OUT)/bench/triggers.jsonl
	@echo "== native"; bench/native.py --outfox $(BIN) --json $(OUT)/bench/native.json $(if $(REDIS),--redis $(REDIS))

labelled: $(BIN) ## hold campaigns on real stacks against tests/labelled/labels.yaml; tools/install-deps labelled (CAMPAIGNS=10)
	@OUTFOX=$(BIN) tests/labelled/run --campaigns $(or $(CAMPAIGNS),10)

quick-table: $(BIN) ## print the table of docs/performance.md: --quick beside exact searches, each ended after MOST=5m
	@OUTFOX=$(BIN) tests/labelled/quick --most $(or $(MOST),5m)

# tests/ui takes them, so they show what is there.
pictures: check-programs ## take the pictures of docs/images anew, in a browser
	@set -e; for t in reports live; do \
	    dir=$$(mktemp -d); \
	    (cd $$dir && OUTFOX=$(CURDIR)/$(BIN) TOP=$(CURDIR) TMPDIR=$$dir SCREENSHOTS=$(CURDIR)/docs/images $(CURDIR)/tests/ui/$$t); \
	    rm -rf $$dir; \
	done

fuzz: ## fuzz each target for FUZZ_SECONDS=60 with libFuzzer (needs clang)
	@$(MAKE) --no-print-directory VARIANT=fuzz CC='$(if $(IS_CLANG),$(CC),clang)' fuzz-run

fuzz-run: $(FUZZERS)
	@set -e; for f in $(notdir $(FUZZERS)); do \
	    mkdir -p build/fuzz/corpus-$$f; \
	    dict=; test ! -f tests/fuzz/$$f.dict || dict=-dict=tests/fuzz/$$f.dict; \
	    seeds=; test ! -d tests/fuzz/corpus/$$f || seeds=tests/fuzz/corpus/$$f; \
	    echo "== $$f for $(FUZZ_SECONDS) s"; \
	    build/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=20 -print_final_stats=1 \
	        -artifact_prefix=build/fuzz/$$f- $$dict \
	        build/fuzz/corpus-$$f $$seeds; \
	done

TIDY_CFLAGS := $(ALL_CPPFLAGS) -DOUTFOX_VERSION='""' -DOUTFOX_COMMIT='""' -Wall -Wextra

lint: fmt-check $(GEN)/cmd/pages.list $(GEN)/page/schemas.list ## check includes, sizes and format; run clang-tidy, and cppcheck if present
	@tools/check-includes
	@tools/check-size
	@printf '%s\n' $(LIB_SRCS) $(CMD_SRCS) | xargs -P$(JOBS) -I{} \
	    clang-tidy --quiet {} -- $(TIDY_CFLAGS)
	@! command -v cppcheck >/dev/null || cppcheck --quiet --error-exitcode=1 -j$(JOBS) --std=c11 \
	    --enable=warning,portability --inline-suppr -D__GNUC__ -DOUTFOX_VERSION='""' -DOUTFOX_COMMIT='""' -Isrc -I$(GEN) src

CLANG_FORMAT ?= $(or $(shell command -v clang-format-14),clang-format)

fmt: ## format the sources in place (clang-format 14)
	$(Q)$(if $(FORMATTED),$(CLANG_FORMAT) -i $(FORMATTED))

fmt-check: ## say where the sources are not formatted
	$(Q)$(if $(FORMATTED),$(CLANG_FORMAT) --dry-run -Werror $(FORMATTED))

# The same checks, but the analyzer ends its walk of a function after fewer steps, a tenth of the
# time; and only for what was compiled since. Part of `make test`.
TIDIED := $(patsubst %.c,build/tidy/%.ok,$(LIB_SRCS) $(CMD_SRCS))

tidy: $(TIDIED) ## run clang-tidy over what has changed, with less depth than lint

build/tidy/%.ok: $(OBJ)/%.o .clang-tidy
	@mkdir -p $(@D)
	$(call say,TIDY,$*.c)
	$(Q)said=$$(clang-tidy --quiet $*.c -- $(TIDY_CFLAGS) -Xclang -analyzer-config \
	    -Xclang max-nodes=8000 2>&1) || { printf '%s\n' "$$said"; exit 1; }
	@touch $@

clean: ## remove all that was built
	rm -rf build

SHARE       = $(DESTDIR)$(PREFIX)/share
NATIVE_DIR  = $(DESTDIR)$(PREFIX)/lib/outfox
DOC_DIR     = $(SHARE)/doc/outfox
EXAMPLE_DIR = $(SHARE)/outfox/examples
BASH_DIR    = $(SHARE)/bash-completion/completions
ZSH_DIR     = $(SHARE)/zsh/site-functions
FISH_DIR    = $(SHARE)/fish/vendor_completions.d

install: all ## install below DESTDIR and PREFIX=/usr/local
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/outfox
	$(if $(filter $(COMPILER),$(NATIVE)),install -D -m 755 $(COMPILER) $(NATIVE_DIR)/outfox-cc)
	$(if $(filter $(RT),$(NATIVE)),install -D -m 644 $(RT) $(NATIVE_DIR)/liboutfox_rt.a)
	install -D -m 644 include/outfox/abi.h $(DESTDIR)$(PREFIX)/include/outfox/abi.h
	install -d $(DOC_DIR) $(EXAMPLE_DIR)
	install -m 644 LICENSE README.md CHANGES.md $(DOC_DIR)
	cp -R docs/. $(DOC_DIR)
	cp -R examples/. $(EXAMPLE_DIR)
	chmod -R u=rwX,go=rX $(DOC_DIR) $(EXAMPLE_DIR)
	install -d $(SHARE)/man/man1 $(BASH_DIR) $(ZSH_DIR) $(FISH_DIR)
	$(BIN) man --all $(SHARE)/man/man1
	$(BIN) completion bash >$(BASH_DIR)/outfox
	$(BIN) completion zsh >$(ZSH_DIR)/_outfox
	$(BIN) completion fish >$(FISH_DIR)/outfox.fish

uninstall: ## remove what install has put there
	rm -f $(DESTDIR)$(PREFIX)/bin/outfox $(SHARE)/man/man1/outfox.1 $(SHARE)/man/man1/outfox-*.1
	rm -f $(BASH_DIR)/outfox $(ZSH_DIR)/_outfox $(FISH_DIR)/outfox.fish
	rm -rf $(DOC_DIR) $(SHARE)/outfox $(NATIVE_DIR)
	rm -f $(DESTDIR)$(PREFIX)/include/outfox/abi.h

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# --- Rules ---------------------------------------------------------------------------------------

say = $(if $(V),,@printf '  %-4s %s\n' $(1) $(2))

# Stops with one sentence when $(1) names something that is missing.
need = $(if $(strip $(1)),$(error Missing to build Outfox: $(strip $(1)); run tools/install-deps $(2)))

deps:
	@$(call need,$(call no_tool,$(CC)) $(call no_tool,pkg-config) $(call lacks,$(PKGS)) \
	    $(call no_header,llhttp.h),build)

deps-test: deps
	@$(call need,$(call lacks,cmocka),test)

deps-solver: deps-test
	@$(call need,$(call no_header,ccadical.h),test)

# $(call stamp,FILE,WORDS): a file that is rewritten when its words change, and only then.
quoted = '$(subst ','\'',$(1))'
define stamp
$(1): FORCE
	@mkdir -p $$(@D)
	@printf '%s\n' $(call quoted,$(2)) | cmp -s - $$@ || printf '%s\n' $(call quoted,$(2)) > $$@
endef
$(eval $(call stamp,$(OBJ)/flags,$(CC) $(ALL_CFLAGS) $(TEST_CFLAGS)))
$(eval $(call stamp,$(OBJ)/link,$(CC) $(ALL_LDFLAGS) $(PKG_LIBS) $(TEST_LIBS)))
$(eval $(call stamp,$(OBJ)/sources,$(LIB_SRCS) $(CMD_SRCS) $(SUPPORT_SRCS)))
$(eval $(call stamp,$(OBJ)/version,$(VERSION) $(COMMIT)))
$(OBJ)/src/cmd/main.o: $(OBJ)/version

# The pages of the oracles and the help texts are part of the program.
PAGES := $(sort $(filter-out %/README.md,$(wildcard docs/oracles/*.md))) src/cmd/help.txt
$(eval $(call stamp,$(GEN)/pages,$(PAGES)))
$(GEN)/cmd/pages.list: tools/pages $(PAGES) $(GEN)/pages
	@mkdir -p $(@D)
	$(Q)tools/pages $(PAGES) > $@
$(OBJ)/src/cmd/manual.o: $(GEN)/cmd/pages.list

# So are the JSON Schemas of its documents.
SCHEMAS := $(sort $(wildcard schemas/*.json))
$(eval $(call stamp,$(GEN)/schemas,$(SCHEMAS)))
$(GEN)/page/schemas.list: tools/pages $(SCHEMAS) $(GEN)/schemas
	@mkdir -p $(@D)
	$(Q)tools/pages $(SCHEMAS) > $@
$(OBJ)/src/page/schema.o: $(GEN)/page/schemas.list

# The page of the report and of the live server is part of the program too: ui/ bundled into one HTML
# file, as an array. NO_UI=1: an empty one, which says that it is not there.
UI_SRCS := $(sort $(shell find ui/src -type f -not -path "ui/src/gen/*")) ui/build.mjs ui/package-lock.json
$(eval $(call stamp,$(GEN)/ui/sources,$(if $(NO_UI),none,$(UI_SRCS))))

ui/node_modules/.built-with ui/node_modules/.tested-with: ui/package-lock.json
	@$(call need,$(call no_tool,node) $(call no_tool,npm),build; or leave the pages out: make NO_UI=1)
	$(call say,NPM,ui)
	$(Q)cd ui && npm ci --silent --ignore-scripts $(if $(filter %.built-with,$@),--omit=dev)
	@touch $@

$(GEN)/ui/page.html: $(UI_SRCS) $(GEN)/ui/sources | $(UI_HAS)
	$(call say,UI,$@)
	$(Q)node ui/build.mjs $@
$(GEN)/ui/page.c: tools/embed $(GEN)/ui/sources $(if $(NO_UI),,$(GEN)/ui/page.html)
	$(Q)tools/embed page_html $(if $(NO_UI),/dev/null,$(GEN)/ui/page.html) >$@
$(OBJ)/page.o: $(GEN)/ui/page.c src/page/page.h $(OBJ)/flags | deps
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(OBJ)/%.o: %.c $(OBJ)/flags | deps
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) $(MORE) -MMD -MP -c -o $@ $<

$(OBJ)/llhttp/%.o: $(LLHTTP_DIR)/%.c $(OBJ)/flags | deps
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -D_GNU_SOURCE $(LLHTTP_CFLAGS) -w $(FLAGS_$(VARIANT)) $(CFLAGS) -c -o $@ $<

$(LIB): $(LIB_OBJS) $(OBJ)/sources
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(AR) rcs $@ $(LIB_OBJS)

# $(call link,OBJECTS,LIBRARIES)
define link
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(1) $(LIB) $(PKG_LIBS) -lm $(2)
endef

$(BIN): $(CMD_OBJS) $(LIB) $(OBJ)/link
	$(call link,$(CMD_OBJS))

$(COMPILER): $(call objects,$(CC_SRCS)) $(LIB) $(OBJ)/link
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ -Wl,--as-needed $(filter %.o,$^) $(LIB) $(shell $(LLVM_CONFIG) --ldflags --libs --link-shared)

# The runtime is linked into programs of others: it has flags of its own, and nothing of ours.
RT_FLAGS := -std=c17 -D_GNU_SOURCE -Iinclude $(WARN) -O2 -g -fPIC -fvisibility=hidden -fno-stack-protector \
    -fno-omit-frame-pointer -U_FORTIFY_SOURCE
RT_OBJS  := $(RT_SRCS:%.c=build/obj/rt/%.o)
$(eval $(call stamp,build/obj/rt/flags,$(CC) $(RT_FLAGS)))
build/obj/rt/%.o: %.c build/obj/rt/flags | deps
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(RT_FLAGS) -MMD -MP -c -o $@ $<
# One object, so that whatever needs a part has all; of its names programs see those of the ABI.
$(RT): $(RT_OBJS)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(CC) -r -nostdlib -o build/obj/rt/all.o $(RT_OBJS)
	$(Q)objcopy --wildcard --keep-global-symbol='outfox_rt1_*' build/obj/rt/all.o
	$(Q)$(AR) rcs $@ build/obj/rt/all.o

# tests/support holds what several tests share; each program below links all of it.
$(TESTS): build/$(VARIANT)/tests/%: $(OBJ)/tests/unit/%.o $(AID_OBJS) $(LIB) $(OBJ)/link
	$(call link,$< $(AID_OBJS),$(TEST_LIBS) $(MORE_LIBS))

# A solver to hold ours against: a static library, in C++.
MORE_LIBS :=
build/$(VARIANT)/tests/test_hitting: MORE_LIBS := -lcadical -lstdc++

$(REPLAYS): build/$(VARIANT)/tests/%: $(OBJ)/tests/fuzz/%.o $(OBJ)/tests/fuzz/driver.o $(LIB) $(OBJ)/link
	$(call link,$< $(OBJ)/tests/fuzz/driver.o)

$(BENCHES): $(OUT)/bench/%: $(OBJ)/bench/%.o $(AID_OBJS) $(LIB) $(OBJ)/link
	$(call link,$< $(AID_OBJS),$(TEST_LIBS))

# Services for the proxy to stand in front of; nothing of ours is in them.
$(PEERS): $(OUT)/bench/peers/%: $(OBJ)/bench/peers/%.o $(OBJ)/bench/peers/serve.o $(OBJ)/link
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(call pkg,--libs libnghttp2)

# The client of campaigns, alone.
$(BARE): $(OUT)/bench/peers/%: $(OBJ)/bench/peers/%.o $(LIB) $(OBJ)/link
	$(call link,$<)

ifeq ($(VARIANT),fuzz)
$(FUZZERS): build/fuzz/%: $(OBJ)/tests/fuzz/%.o $(LIB) $(OBJ)/link
	$(call link,$<,-fsanitize=fuzzer)
endif

$(call objects,$(TEST_SRCS) $(SUPPORT_SRCS)): | deps-test
$(OBJ)/tests/unit/test_hitting.o: | deps-solver

# Objects are kept, also those that only a pattern rule mentions.
.SECONDARY:

-include $(wildcard $(OBJ)/*/*.d $(OBJ)/*/*/*.d build/obj/rt/*/*/*.d)
