#!/usr/bin/env bash
# controller-runtime.sh [VERSION...] builds controller-runtime's own suites, of its last four minor versions or those that are named, and runs
# them unchanged on the folder that `troupe envtest install` fills. It prints a line for each package, and what has failed.
# PACKAGES names some, as "pkg/client pkg/cache". With BARE=1 the server runs no controllers that a bare kube-apiserver does not run.
#
# Needs Go and its module proxy. The first run compiles Kubernetes' libraries once for each version, which takes minutes.
set -euo pipefail
cd "$(dirname "$0")/../../.."
versions=${*:-v0.22.5 v0.23.3 v0.24.1 v0.25.2}
kept=${XDG_CACHE_HOME:-$HOME/.cache}/troupe-test/controller-runtime
mkdir -p "$kept"
go build -o "$kept/troupe" ./cmd/troupe
export KUBEBUILDER_ASSETS=$kept/assets
"$kept/troupe" envtest install --dir "$KUBEBUILDER_ASSETS" >/dev/null
[ -z "${BARE:-}" ] || export TROUPE_APISERVER_FLAGS=--controllers=apiserver
export GOFLAGS=-mod=mod GOWORK=off

failed=0
for version in $versions; do
  tree=$kept/$version
  if [ ! -d "$tree" ]; then
    from=$(cd "$kept" && go mod download -json "sigs.k8s.io/controller-runtime@$version" | sed -n 's/.*"Dir": "\(.*\)",/\1/p')
    cp -r "$from" "$tree.new"
    chmod -R u+w "$tree.new"
    find "$tree.new" -name '*.sh' -exec chmod +x {} + # which modules do not carry
    mv "$tree.new" "$tree"
  fi
  cd "$tree"
  for package in ${PACKAGES:-$(grep -rl --include='*_test.go' envtest pkg | xargs -n1 dirname | sort -u)}; do
    log=$kept/$version-${package//\//-}.log
    if go test -v -count 1 -vet=off -timeout 15m "./$package" -ginkgo.no-color >"$log" 2>&1 ||
      { grep -q 'flag provided but not defined: -ginkgo' "$log" && go test -v -count 1 -vet=off -timeout 15m "./$package" >"$log" 2>&1; }; then
      result=passed
    else
      result=FAILED failed=1
    fi
    echo "$version $package: $result $(grep -aE '^(FAIL!|SUCCESS!)' "$log" | tail -1)"
    grep -aE '^ *(\[FAIL\]|--- FAIL)' "$log" | sort -u || true
  done
  cd - >/dev/null
done
exit $failed
