# Everything else is a script in .ci, or a program in test/tools.

NAMING   ?= kubernetes
DATA_DIR ?= troupe-data
FLAGS    ?=
FUZZTIME ?= 1m
SOAK_MINUTES ?= 60
TESTS    ?=
NODES    ?= simulated
VERSION  ?=
KEY      ?=

.PHONY: help build run test check lint vulncheck outdated generate bench speed fuzz soak conformance node-test release

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1|\2/p' Makefile | column -t -s '|'

build: ## build bin/troupe
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/troupe ./cmd/troupe

run: build ## build, and serve on ./troupe-data; NAMING=platform for neutral names
	./bin/troupe serve --data-dir $(DATA_DIR) --naming $(NAMING) --console $(FLAGS)

test: ## run everything that must pass before a change goes in: lint and all tests
	cd test && go run ./tools/check

check: ## check the packages that differ from origin/main, in less than a minute
	cd test && go run ./tools/check -changed

lint: ## check formatting, vet, staticcheck and generated files; with CI=true other platforms as well
	cd test && go run ./tools/lint $(if $(CI),-all)
	$(if $(CI),cd test && go run ./tools/platforms)
	go run ./kinds/internal/gen -check
	@if curl -sfI -m 3 -o /dev/null https://vuln.go.dev/index/modules.json.gz 2>/dev/null; then $(MAKE) -s vulncheck || echo "make vulncheck reports known vulnerabilities"; \
	  else echo "vuln.go.dev is out of reach: known vulnerabilities were not looked up"; fi

vulncheck: ## look up reachable code in the Go vulnerability database; needs vuln.go.dev
	go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...

outdated: ## list newer versions of the direct dependencies of all modules; needs the module proxy
	@for module in . test test/release; do \
	  (cd $$module && go list -m -f '{{if not (or .Main .Indirect .Replace)}}{{.Path}}{{end}}' all | \
	    xargs go list -e -m -u -f '{{with .Update}}{{$$.Path}} {{$$.Version}} {{.Version}}{{end}}' | sed "s|^|$$module: |"); done

generate: ## generate files of kinds, commands and tables, and with npm those of the console
	go run ./kinds/internal/gen
	command -v npm >/dev/null || exit 0; cd http/internal/console/web && npm ci --no-audit --no-fund && npm run -s build

bench: build ## run the load harness against a fresh daemon
	go run ./bench --start bin/troupe

speed: ## compare the CPU time per operation with the last release; FLAGS are those of test/tools/speed
	cd test && go run ./tools/speed $(FLAGS)

fuzz: ## run every fuzz target for FUZZTIME
	@grep -rEo --include='*_test.go' '^func Fuzz[[:alnum:]]+' * | sed -E 's|/[^/]*:func | |' | sort | \
	  while read -r folder target; do \
	    echo "$$folder $$target"; \
	    case $$folder in test/*) module=test ;; *) module=. ;; esac; \
	    (cd $$module && go test "./$${folder#test/}" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME)) || exit 1; \
	  done

soak: build ## run the long tests in SOAK_MINUTES: kills, power cuts, faults, load, fuzzing
	cd test && go run ./tools/soak -minutes $(SOAK_MINUTES)
	cd test && go run ./tools/check -flakes 1

conformance: ## run the end-to-end suite of Kubernetes on simulated nodes, or NODES=real; TESTS has its flags
	cd test/tools/conformance && go run . $(if $(filter real,$(NODES)),--real) $(TESTS)

node-test: ## run containers on two real nodes, as root; TESTS has flags such as -run Network or -built-in
	cd test && go test -count 1 -timeout 90m -v ./nodes $(TESTS)

release: ## write the files of the release VERSION to dist; KEY=FILE signs them
	cd test/release && go run . -version "$(VERSION)" -out ../../dist -reproduce $(if $(KEY),-key "$(KEY)")
