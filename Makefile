# make build | run | test | check | flakes | etcd-test | http2-test | cluster-test | cluster-scale | conformance | command-line-suite | console-test | shells-test | fuzz | soak | bench | lint | generate

NAMING   ?= kubernetes
DATA_DIR ?= troupe-data
FLAGS    ?=
FUZZTIME ?= 1m
PYTHON   ?= /usr/bin/python3
SOAK_MINUTES ?= 60
TESTS    ?=
ROUNDS   ?= 10

# The names of the tests of a topic of a suite, such as api/apply, as a pattern for -run.
names = '^('$$(cat $(addprefix $(CURDIR)/test/,$(addsuffix *_test.go,$(1))) | sed -nE 's/^func (Test[A-Z0-9][[:alnum:]]*)[(].*/\1/p' | grep -v '^TestMain$$' | paste -sd '|' -)')$$'

# What these topics ask is answered alike wherever the state is.
ON_ETCD := api/apply api/conventions api/kinds api/patch extension/aggregation extension/custom extension/definitions policy/auth storage/crash \
	storage/linear storage/quota storage/watch cluster/cluster cluster/network

# What these topics ask over HTTP/2 is answered alike; policy/auth asks what protocols are offered by default.
OVER_HTTP2 := api/apply api/conventions api/kinds api/patch api/representation extension/aggregation extension/custom extension/definitions \
	extension/webhooks policy/security storage/linear storage/quota storage/watch cluster/network

# Vet has run in lint, over the tests too.
# A busy machine may need more than ten minutes for a suite of clients.
TEST := go test -vet=off -p 4 -timeout 30m

.PHONY: build run test check flakes etcd-test http2-test cluster-test cluster-scale conformance command-line-suite console-test shells-test faults reproducible sbom vulncheck fuzz soak race bench lint generate controller-runtime cluster-api node-client python-client console-share screenshots

build: ## bin/troupe
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/troupe ./cmd/troupe

run: build ## serve on ./troupe-data under the names of existing clients; NAMING=platform for the neutral ones
	./bin/troupe serve --data-dir $(DATA_DIR) --naming $(NAMING) --console $(FLAGS)

test: ## everything that must pass before a change goes in
	cd test && go run ./tools/check

check: ## what a change needs: analysis and tests of the packages that differ from origin/main
	cd test && go run ./tools/check -changed

flakes: ## the suites in ROUNDS rounds under load, to find tests that depend on how fast the machine is
	cd test && go run ./tools/check -flakes $(ROUNDS)

http2-test: ## the suites by a client that speaks HTTP/2
	cd test && TROUPE_HTTP=2 $(TEST) -count 1 -run $(call names,$(OVER_HTTP2)) ./api ./extension ./policy ./storage ./cluster

cluster-test: ## kube-controller-manager and kube-scheduler on the daemon, which is killed in the middle; builds them once
	cd test && TROUPE_CLUSTER=programs go test -count 1 -timeout 2h -v -run $(call names,cluster/cluster) ./cluster

conformance: ## Kubernetes' end-to-end suite on simulated nodes; TESTS chooses others than those of Conformance
	cd test/tools/conformance && go run . $(TESTS)

command-line-suite: ## Kubernetes' command-line suite, with kube-controller-manager and with Troupe's own controllers; TESTS names groups
	{ command -v curl && command -v jq && command -v openssl && command -v perl && command -v ss && command -v tput; } >/dev/null || \
	  { apt-get update && apt-get install -y --no-install-recommends curl iproute2 jq ncurses-bin openssl perl; }
	cd test/tools/commandline && go run . $(TESTS)
	cd test/tools/commandline && go run . --built-in $(TESTS)

cluster-scale: ## 10,000 Pods on 1,000 simulated nodes: how fast they are placed, and at whose cost; TESTS as --kube-apiserver=PATH --etcd=PATH for another server
	cd test/tools/clusterscale && go run . $(TESTS)

etcd-test: ## the suites on an etcd of 3.6 and 3.5, by one daemon and by three that the client asks in turn, and kills of daemons and members
	cd test && TROUPE_STORE=etcd $(TEST) -count 1 -timeout 1h -run $(call names,$(ON_ETCD)) ./api ./extension ./policy ./storage ./cluster
	cd test && TROUPE_STORE=etcd TROUPE_DAEMONS=3 $(TEST) -count 1 -timeout 2h -run $(call names,$(ON_ETCD)) ./api ./extension ./policy ./storage ./cluster
	ETCD=3.5 $(TEST) -count 1 ./persist/etcd
	cd test && ETCD=3.5 $(TEST) -count 1 -run $(call names,storage/migrate) ./storage
	cd test && ETCD=3.5 TROUPE_STORE=etcd TROUPE_DAEMONS=3 $(TEST) -count 1 -timeout 1h -run $(call names,api/conventions storage/linear storage/quota storage/watch) ./api ./storage
	cd test && TROUPE_SOAK=24 $(TEST) -count 1 -timeout 30m -run 'TestFaults|TestRollingRestart|TestEtcdAway|TestListsAcrossCompactions' ./storage
	cd test && go vet -tags etcd ./storage && $(TEST) -tags etcd -count 1 -timeout 30m -run 'TestPausedForLong|TestClocksOfDaemonsDiffer' ./storage

console-test: ## the console in a headless Chromium; needs npm, and Debian's packages where there is no Chromium
	command -v chromium >/dev/null || { apt-get update && apt-get install -y --no-install-recommends chromium; }
	cd http/internal/console/web && npm ci --no-audit --no-fund && npm run -s check
	cd test && go vet -tags chromium ./clients && go test -tags chromium -count 1 -run $(call names,clients/console) ./clients

screenshots: ## those of the console in docs, from the tests of its pages
	dir=$$(mktemp -d) && (cd test && TROUPE_SCREENSHOTS=$$dir go test -tags chromium -count 1 -run 'TestOverview|TestOwnershipInThreeClicks' ./clients) && \
	  cp $$dir/fields-kubernetes.png docs/console-fields.png && cp $$dir/overview-kubernetes.png docs/console-overview.png; rm -rf "$$dir"

console-share: ## which part of the server's CPU a console takes under the bench's mixed load, in the server's own profile
	cd test && go vet -tags 'chromium share' ./clients && go test -tags 'chromium share' -count 1 -v -run TestShare ./clients

shells-test: ## completion in bash, zsh and fish; needs Debian's packages where they are not there
	{ command -v zsh && command -v fish && [ -e /usr/share/bash-completion/bash_completion ]; } >/dev/null || \
	  { apt-get update && apt-get install -y --no-install-recommends bash-completion zsh fish; }
	cd test && go vet -tags shells ./clients && go test -tags shells -count 1 -run TestShells ./clients

controller-runtime: ## controller-runtime's own suites, of four minor versions, on the folder of troupe envtest install
	test/tools/envtest/controller-runtime.sh $(VERSIONS)

cluster-api: ## cluster-api's own suites on the same folder; PACKAGES names some
	test/tools/envtest/cluster-api.sh $(PACKAGES)

node-client: build ## the official JavaScript client; needs Node.js 18 and npm
	cd test/nodeclient && npm ci --no-audit --no-fund && TROUPE=$(CURDIR)/bin/troupe npm test

python-client: build ## the official Python client; installs Debian's package where it is not there
	$(PYTHON) -c 'import kubernetes' 2>/dev/null || { apt-get update && apt-get install -y --no-install-recommends python3-kubernetes; }
	cd test/pythonclient && TROUPE=$(CURDIR)/bin/troupe PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -W ignore::ResourceWarning -m unittest -v

fuzz: ## every fuzz target in turn, each for FUZZTIME
	@grep -rEo --include='*_test.go' --exclude-dir=test '^func Fuzz[[:alnum:]]+' . | sed -E 's|/[^/]*:func | |' | sort | \
	  while read -r folder target; do \
	    echo "$$folder $$target"; \
	    go test "$$folder" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) || exit 1; \
	  done

soak: build ## the long runs in SOAK_MINUTES, an hour: kills, power cuts, faults, histories, load and every fuzz target share them; then a round of make flakes
	cd test && go run ./tools/soak -minutes $(SOAK_MINUTES)
	cd test && go run ./tools/check -flakes 1

race: ## every test of both modules with the race detector; far slower than make test
	go test -race -timeout 4h -count 1 ./...
	cd test && go test -race -timeout 4h -count 1 ./...

bench: build ## the load harness against a fresh daemon
	go run ./bench --start bin/troupe

lint: ## form, vet, staticcheck, generated files, other platforms where CI is set, and known vulnerabilities, which are told and fail nothing, where their data can be had
	cd test && go run ./tools/lint $(if $(CI),-all)
	$(if $(CI),cd test && go run ./tools/platforms)
	go run ./kinds/internal/gen -check
	@if curl -sfI -m 3 -o /dev/null https://vuln.go.dev/index/modules.json.gz 2>/dev/null; then $(MAKE) -s vulncheck || echo "make vulncheck says what is known"; \
	  else echo "vuln.go.dev is out of reach: nobody looked for known vulnerabilities"; fi

faults: ## breaks the code on purpose, in one way after the other, and checks that a test notices
	cd test && go run ./tools/faults

reproducible: ## the same bytes from two folders
	@one=$$(mktemp -d) && two=$$(mktemp -d) && trap 'rm -rf "$$one" "$$two"' EXIT && \
	  git archive HEAD | tar -x -C "$$one" && git archive HEAD | tar -x -C "$$two" && \
	  for folder in "$$one" "$$two"; do \
	    (cd "$$folder" && GOCACHE="$$folder/.cache" CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags="-s -w" -o bin/troupe ./cmd/troupe) || exit 1; \
	  done; sha256sum "$$one/bin/troupe" "$$two/bin/troupe"; cmp "$$one/bin/troupe" "$$two/bin/troupe" && echo "the same bytes"

sbom: build ## the modules of the binary, with checksums and licences
	@go version -m bin/troupe | awk '$$1 == "dep" || $$1 == "=>" { print $$2, $$3, $$4 }' | while read -r module version sum; do \
	  folder=$$(go list -m -f '{{.Dir}}' "$$module"); \
	  license=$$(ls "$$folder" 2>/dev/null | grep -iE '^(licen[cs]e|copying)' | head -1); \
	  [ -n "$$license" ] || { echo "$$module has no licence file" >&2; exit 1; }; \
	  echo "$$module $$version $$sum $$(head -c 2000 "$$folder/$$license" | tr -s '[:space:]' ' ' | grep -oiE 'apache license|mit license|permission is hereby granted|redistribution and use|mozilla public|isc license|unlicense' | head -1)"; \
	done

vulncheck: ## what the Go vulnerability database knows of reachable code; needs vuln.go.dev
	go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...

generate: ## files made from the declarations of kinds, with Go alone; and those of the console, with npm where there is one
	go run ./kinds/internal/gen
	command -v npm >/dev/null || exit 0; cd http/internal/console/web && npm ci --no-audit --no-fund && npm run -s build
