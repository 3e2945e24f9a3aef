package realnode

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/cluster"
)

// Programs are the programs of a cluster, in one directory, and images, in a directory below it.
type Programs struct{ dir string }

// Path returns the path of a program.
func (p Programs) Path(name string) string { return filepath.Join(p.dir, name) }

// builtPrograms returns the programs that build built.
func builtPrograms(dir string) Programs { return Programs{filepath.Join(dir, "programs")} }

// images returns the directory of the registry.
func (p Programs) images() string { return p.Path("images") }

// build builds all programs and images in a directory below dir. The first build takes half an hour
// of CPU time, and later builds use cached programs.
func build(dir, root string, more []string) error {
	p := builtPrograms(dir)
	if err := os.MkdirAll(p.images(), 0o755); err != nil {
		return err
	}
	if _, err := client.BuildTroupe(p.dir); err != nil {
		return err
	}
	for _, program := range append([]string{"kubernetes/kubectl", "kubernetes/kubelet", "kubernetes/kubeadm", "kubernetes/kube-controller-manager", "kubernetes/kube-scheduler",
		"kubernetes/kube-proxy", "kubernetes/agnhost", "containerd/containerd", "containerd/containerd-shim-runc-v2", "coredns/coredns"}, more...) {
		step("build " + program)
		module, name := filepath.Split(program)
		built, err := cluster.Program(filepath.Join(root, "cluster", module), name)
		if err != nil {
			return err
		}
		if err := link(built, p.Path(name)); err != nil {
			return err
		}
	}
	etcd, err := etcdtest.Binary()
	if err != nil {
		return err
	}
	if err := link(etcd, p.Path("etcd")); err != nil {
		return err
	}
	sources, err := cluster.ModuleDir(filepath.Join(root, "cluster/kubernetes"), "k8s.io/kubernetes")
	if err != nil {
		return err
	}
	for _, name := range []string{"localhost.crt", "localhost.key"} {
		if err := link(filepath.Join(sources, "test/images/agnhost/porter", name), p.Path(name)); err != nil {
			return err
		}
	}
	pause := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", p.Path("pause"), "./realnode/pause")
	pause.Dir, pause.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := pause.CombinedOutput(); err != nil {
		return fmt.Errorf("building pause: %w\n%s", err, out)
	}
	for _, i := range p.allImages() {
		if !p.has(i) {
			continue
		}
		if err := i.write(p.images()); err != nil {
			return err
		}
	}
	return nil
}

// link creates a hard link, or a copy if the file systems differ.
func link(from, to string) error {
	if err := os.Remove(to); err != nil && !os.IsNotExist(err) {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	return run("cp", from, to)
}

func (p Programs) allImages() []image {
	shell := map[string]string{"/bin/sh": "dash", "/bin/bash": "bash"}
	tools := map[string]string{"/usr/bin/curl": "curl", "/usr/bin/dig": "dig", "/usr/bin/getent": "getent", "/usr/bin/nc": "nc", "/usr/bin/ss": "ss", "/sbin/ip": "ip"}
	busybox := map[string]string{}
	for _, applet := range strings.Fields(applets) {
		busybox["/bin/"+applet] = "busybox"
	}
	users := map[string]string{"/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n", "/etc/group": "root:x:0:\nnogroup:x:65534:\n",
		"/etc/nsswitch.conf": "hosts: files dns\n"}
	web := func(text string, names ...string) image { // serves static files in place of nginx
		return image{names: names, programs: map[string]string{"/bin/busybox": "busybox"}, links: busybox, files: merge(users, map[string]string{
			"/etc/os-release": "NAME=\"Alpine Linux\"\n", "/data.json": text, // of the replaced images, for a test of image volumes
			"/usr/share/nginx/html/data.json": text, "/usr/share/nginx/html/index.html": "<html><body>Welcome to nginx!</body></html>\n",
		}), Entrypoint: []string{"httpd", "-f", "-p", "80", "-h", "/usr/share/nginx/html"}}
	}
	program := func(name, file, user string) image { // has only a program of this project's builds
		return image{names: []string{name}, programs: map[string]string{"/bin/" + file: p.Path(file)}, Entrypoint: []string{"/bin/" + file}, User: user}
	}
	deployed := func(version string, names ...string) image { // an artifact with ConfigMaps, for Flux
		files := map[string]string{}
		for _, name := range names {
			files["/deploy/"+name+".yaml"] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {app: flux}}\ndata: {version: %q}\n", name, version)
		}
		return image{names: []string{"registry/app:v" + version}, files: files, compressed: true}
	}
	return []image{
		{names: []string{"registry.k8s.io/pause:3.10.2", "registry.k8s.io/pause:3.10.1"}, programs: map[string]string{"/pause": p.Path("pause")}, Entrypoint: []string{"/pause"}, User: "65535:65535"},
		{names: []string{"registry.k8s.io/e2e-test-images/busybox:1.37.0-2", "registry.k8s.io/e2e-test-images/busybox:1.36.1-1", "docker.io/library/busybox:latest"},
			programs: map[string]string{"/bin/busybox": "busybox", "/bin/bash": "bash"}, links: without(busybox, "/bin/sh"), files: merge(users, map[string]string{"/bin/sh": shellScript}), Cmd: []string{"sh"}},
		{names: []string{"registry.k8s.io/e2e-test-images/agnhost:2.66.1", "registry.k8s.io/e2e-test-images/agnhost:2.55"},
			programs: merge(map[string]string{"/agnhost": p.Path("agnhost"), "/localhost.crt": p.Path("localhost.crt"), "/localhost.key": p.Path("localhost.key"), "/bin/busybox": "busybox"}, shell, tools),
			links:    merge(without(busybox, "/bin/sh", "/bin/nc", "/bin/ip"), map[string]string{"/agnhost-2": "agnhost"}),
			files:    users, Entrypoint: []string{"/agnhost"}, Cmd: []string{"pause"}},
		web("", "registry.k8s.io/e2e-test-images/nginx:1.27.0-2", "registry.k8s.io/e2e-test-images/nginx:1.28.0-2"),
		web(`{"image":"nautilus.jpg"}`, "registry.k8s.io/e2e-test-images/nautilus:1.8"),
		web(`{"image":"kitten.jpg"}`, "registry.k8s.io/e2e-test-images/kitten:1.8"),
		{names: []string{"registry.k8s.io/e2e-test-images/glibc-dns-testing:2.1.1"},
			programs: merge(map[string]string{"/bin/busybox": "busybox", "/bin/hostname": "hostname"}, shell, tools),
			links:    without(busybox, "/bin/sh", "/bin/hostname", "/bin/nslookup", "/bin/nc", "/bin/ip"), files: users, Cmd: []string{"sleep", "86400"}},
		{names: []string{"registry.k8s.io/e2e-test-images/nonroot:1.5"}, programs: map[string]string{"/bin/busybox": "busybox"}, links: busybox, files: users,
			Entrypoint: []string{"id"}, User: "1234"},
		{names: []string{"registry.k8s.io/e2e-test-images/nonewprivs:1.4"}, programs: map[string]string{"/nnp": "bash"}, setUserID: true,
			Entrypoint: []string{"/nnp", "-p", "-c", "echo Effective uid: $EUID"}},
		{names: []string{"registry.k8s.io/etcd:3.7.0-0"}, programs: map[string]string{"/usr/local/bin/etcd": p.Path("etcd")}, Entrypoint: []string{"etcd"}},
		{names: []string{"registry.k8s.io/coredns/coredns:v1.14.6"}, programs: map[string]string{"/coredns": p.Path("coredns")}, Entrypoint: []string{"/coredns"}},
		{names: []string{"registry.k8s.io/kube-proxy:v1.37.2"}, programs: merge(map[string]string{"/usr/local/bin/kube-proxy": p.Path("kube-proxy"),
			"/usr/sbin/xtables-nft-multi": "xtables-nft-multi", "/usr/sbin/conntrack": "conntrack"}, extensions()), links: map[string]string{
			"/usr/sbin/iptables": "xtables-nft-multi", "/usr/sbin/iptables-save": "xtables-nft-multi", "/usr/sbin/iptables-restore": "xtables-nft-multi",
			"/usr/sbin/ip6tables": "xtables-nft-multi", "/usr/sbin/ip6tables-save": "xtables-nft-multi", "/usr/sbin/ip6tables-restore": "xtables-nft-multi"}},
		{names: []string{"registry.k8s.io/e2e-test-images/sample-apiserver:1.29.2"}, programs: map[string]string{"/sample-apiserver": p.Path("sample-apiserver")}, Entrypoint: []string{"/sample-apiserver"}},
		program("gcr.io/k8s-staging-metrics-server/metrics-server:master", "metrics-server", ""),
		{names: []string{"docker.io/rancher/local-path-provisioner:v0.0.30"}, programs: map[string]string{"/bin/local-path-provisioner": p.Path("local-path-provisioner")}},
		program("quay.io/jetstack/cert-manager-controller:v1.11.5", "cert-manager-controller", "1000"),
		program("quay.io/jetstack/cert-manager-webhook:v1.11.5", "cert-manager-webhook", "1000"),
		program("quay.io/jetstack/cert-manager-cainjector:v1.11.5", "cert-manager-cainjector", "1000"),
		program("docker.io/fluxcd/source-controller:v1.9.0", "source-controller", "65534:65534"),
		program("docker.io/fluxcd/kustomize-controller:v1.9.0", "kustomize-controller", "65534:65534"),
		program("quay.io/prometheus-operator/prometheus-operator:v0.88.0", "prometheus-operator", "65534"),
		program("quay.io/prometheus-operator/prometheus-config-reloader:v0.88.0", "prometheus-config-reloader", "65534"),
		program("quay.io/prometheus/prometheus:v3.9.1", "prometheus", "65534"),
		program("docker.io/library/traefik:v3.5.4", "traefik", "65532"),
		deployed("1", "first", "second"), deployed("2", "first"),
	}
}

// shellScript runs BusyBox's shell, whose messages tests expect, or bash if there are environment
// variables whose names are no identifiers, which Debian's BusyBox drops.
const shellScript = `#!/bin/bash
if busybox env | busybox grep -q '^[A-Za-z0-9_]*[^A-Za-z0-9_=][^=]*='; then exec -a "$0" /bin/bash "$@"; fi
exec -a "$0" /bin/busybox "$@"
`

// has reports whether all programs of an image were requested and built.
func (p Programs) has(i image) bool {
	for _, program := range i.programs {
		if _, err := os.Stat(program); filepath.Dir(program) == p.dir && err != nil {
			return false
		}
	}
	return true
}

// applets lists the BusyBox programs that the tests call.
const applets = `sh ash cat ls echo sleep true false test id whoami pwd env printenv date wget nslookup ping hostname stat mkdir rm cp mv touch chmod chown ln head tail grep sed awk
	sort uniq wc cut tr find xargs tee dd df du mount umount ps kill killall top free uname seq expr sysctl tar gzip gunzip httpd nc ip ifconfig route netstat vi sync base64 md5sum sha256sum
	dirname basename readlink mktemp printf timeout usleep yes od hexdump cmp diff which nproc getopt traceroute traceroute6 logger mkfifo mknod tty stty truncate fallocate blkid`

func extensions() map[string]string {
	all, _ := filepath.Glob("/usr/lib/*/xtables/*.so") // without them, iptables reports what it misses
	m := map[string]string{}
	for _, path := range all {
		m[path] = path
	}
	return m
}

func merge(all ...map[string]string) map[string]string {
	merged := map[string]string{}
	for _, m := range all {
		for k, v := range m {
			merged[k] = v
		}
	}
	return merged
}

func without(m map[string]string, names ...string) map[string]string {
	m = merge(m)
	for _, name := range names {
		delete(m, name)
	}
	return m
}
