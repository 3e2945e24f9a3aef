#!/bin/sh
# build.sh NAME PATH builds a program of Kubernetes at the version that go.mod pins: kube-apiserver, kube-controller-manager,
# kube-scheduler, kubelet, kube-proxy, kubeadm, kubectl, kubectl-convert, agnhost or e2e.test.
set -eu
version=$(awk '$1 == "k8s.io/kubernetes" { print $2 } $2 == "k8s.io/kubernetes" { print $3 }' go.mod | grep '^v' | head -n 1)
stamp=k8s.io/component-base/version
flags="-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=$(echo "$version" | cut -d. -f2) -X $stamp.gitTreeState=clean"
export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off
case $1 in
e2e.test) go test -c -vet=off -trimpath -ldflags "$flags" -o "$2.new" k8s.io/kubernetes/test/e2e ;;
agnhost) go build -trimpath -ldflags "-s -w" -o "$2.new" k8s.io/kubernetes/test/images/agnhost ;;
*) go build -trimpath -ldflags "$flags" -o "$2.new" "k8s.io/kubernetes/cmd/$1" ;;
esac
mv "$2.new" "$2"
