#!/bin/sh
# build.sh NAME PATH builds cert-manager-controller, cert-manager-webhook or cert-manager-cainjector at the version that go.mod pins.
set -eu
export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off
go build -trimpath -ldflags "-s -w" -o "$2.new" "github.com/cert-manager/cert-manager/cmd/${1#cert-manager-}"
mv "$2.new" "$2"
