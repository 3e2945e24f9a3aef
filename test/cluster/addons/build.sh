#!/bin/sh
# build.sh NAME PATH builds metrics-server or local-path-provisioner at the version that go.mod pins.
set -eu
export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off
case $1 in
metrics-server) package=sigs.k8s.io/metrics-server/cmd/metrics-server ;;
local-path-provisioner) package=github.com/rancher/local-path-provisioner ;;
esac
go build -trimpath -ldflags "-s -w" -o "$2.new" "$package"
mv "$2.new" "$2"
