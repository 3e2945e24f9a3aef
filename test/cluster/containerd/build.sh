#!/bin/sh
# build.sh NAME PATH builds containerd or containerd-shim-runc-v2 at the version that go.mod pins. Debian's release lacks
# image volumes.
set -eu
export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off
go build -trimpath -tags "no_btrfs no_devmapper no_zfs" -ldflags "-s -w" -o "$2.new" "github.com/containerd/containerd/v2/cmd/$1"
mv "$2.new" "$2"
