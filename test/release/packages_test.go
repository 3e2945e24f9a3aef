package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sassoftware/go-rpmutils"

	"github.com/troupe-api/troupe/internal/must"
)

// TestDeb installs the Debian package into a directory, and then upgrades and purges it. The unit
// must be hardened, and data and settings must survive.
func TestDeb(t *testing.T) {
	t.Parallel()
	need(t, "dpkg", "systemd-analyze", "systemd-sysusers")
	r := must.Get(built())(t)
	root := t.TempDir()
	for _, dir := range []string{"etc", "var/lib/dpkg/info", "var/lib/dpkg/updates"} {
		must.Succeed(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	must.Succeed(t, os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644))
	dpkg := func(args ...string) {
		t.Helper()
		outputOf(t, "dpkg", append([]string{"--root=" + root, "--force-script-chrootless", "--force-not-root"}, args...)...)
	}
	dpkg("--install", filepath.Join(r.out, "troupe_0.3.0-1_amd64.deb"))

	users := string(must.Get(os.ReadFile(filepath.Join(root, "etc/passwd")))(t))
	if !regexp.MustCompile(`(?m)^troupe:x:\d+:\d+:[^:]*:/var/lib/troupe:\S*nologin$`).MatchString(users) {
		t.Errorf("the users are %q", users)
	}
	unit := string(must.Get(os.ReadFile(filepath.Join(root, "usr/lib/systemd/system/troupe.service")))(t))
	for _, line := range []string{"User=troupe", "StateDirectory=troupe", "ExecStart=/usr/bin/troupe serve --config=/etc/troupe/troupe.yaml"} {
		if !strings.Contains(unit, line+"\n") {
			t.Errorf("no %s in the unit", line)
		}
	}
	// systemd-analyze rates an exposure level below 5 as OK or better.
	outputOf(t, "systemd-analyze", "security", "--no-pager", "--offline=true", "--root="+root, "--threshold=49", "troupe.service")

	program, settings, data := filepath.Join(root, "usr/bin/troupe"), filepath.Join(root, "etc/troupe/troupe.yaml"), filepath.Join(root, "var/lib/troupe")
	kubeconfig := "--kubeconfig=" + filepath.Join(data, "admin.kubeconfig")
	serve := func() *server {
		t.Helper()
		return start(t, exec.CommandContext(t.Context(), program, "serve", "--config="+settings, "--data-dir="+data, "--bind-address=127.0.0.1", "--secure-port=0"))
	}
	s := serve()
	outputOf(t, program, kubeconfig, "create", "configmap", "greeting", "--from-literal=text=hello")
	s.stop(t)

	changed := string(must.Get(os.ReadFile(settings))(t)) + "max-watches: 4711\n"
	must.Succeed(t, os.WriteFile(settings, []byte(changed), 0o644))
	next := *r
	next.version, next.out = "0.3.1", t.TempDir()
	must.Succeed(t, next.packages(staged{testPlatform, filepath.Join(r.work, "stage/linux_amd64")}))
	dpkg("--install", filepath.Join(next.out, "troupe_0.3.1-1_amd64.deb"))
	if got := outputOf(t, "dpkg-query", "--root="+root, "--show", "--showformat=${Status} ${Version}", "troupe"); got != "install ok installed 0.3.1-1" {
		t.Errorf("after the upgrade: %s", got)
	}
	if got := string(must.Get(os.ReadFile(settings))(t)); got != changed {
		t.Errorf("the upgrade replaced the settings: %s", got)
	}
	s = serve()
	if got := outputOf(t, program, kubeconfig, "get", "configmap", "greeting", "-o=jsonpath={.data.text}"); got != "hello" {
		t.Errorf("after the upgrade the object has %q", got)
	}
	s.stop(t)

	dpkg("--purge", "troupe")
	if _, err := os.Stat(program); !os.IsNotExist(err) {
		t.Errorf("the program after the removal: %v", err)
	}
	outputOf(t, filepath.Join(r.work, "stage/linux_amd64/troupe"), "verify", data)
}

// TestRPMScripts installs, upgrades and removes the RPM package in another root. Its systemctl and
// systemd-sysusers record their arguments.
func TestRPMScripts(t *testing.T) {
	t.Parallel()
	need(t, "rpm", "ldd")
	r := must.Get(built())(t)
	root := t.TempDir()
	for _, dir := range []string{"dev", "run/systemd/system"} {
		must.Succeed(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	shell := must.Get(filepath.EvalSymlinks("/bin/sh"))(t)
	copyTo := func(from, to string) {
		t.Helper()
		to = filepath.Join(root, to)
		must.Succeed(t, os.MkdirAll(filepath.Dir(to), 0o755))
		must.Succeed(t, os.WriteFile(to, must.Get(os.ReadFile(from))(t), 0o755))
	}
	copyTo(shell, "bin/sh")
	for _, library := range regexp.MustCompile(`/\S+\.so\S*`).FindAllString(outputOf(t, "ldd", shell), -1) {
		copyTo(library, library)
	}
	for _, name := range []string{"systemctl", "systemd-sysusers"} {
		stub := filepath.Join(root, "bin", name)
		must.Succeed(t, os.WriteFile(stub, []byte("#!/bin/sh\necho "+name+" \"$@\" >> /calls\n"), 0o755))
	}
	next := *r
	next.version, next.out = "0.3.1", t.TempDir()
	must.Succeed(t, next.packages(staged{testPlatform, filepath.Join(r.work, "stage/linux_amd64")}))
	const created = "systemd-sysusers --root=/ troupe.conf\nsystemctl daemon-reload\nsystemctl try-restart troupe.service\n"
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"--install", filepath.Join(r.out, "troupe-0.3.0-1.x86_64.rpm")}, created},
		{[]string{"--upgrade", filepath.Join(next.out, "troupe-0.3.1-1.x86_64.rpm")}, created + "systemctl daemon-reload\n"},
		{[]string{"--erase", "troupe"}, "systemctl disable --now troupe.service\nsystemctl daemon-reload\n"},
	} {
		// No package of this root provides the shell.
		outputOf(t, "rpm", append([]string{"--root=" + root, "--nodeps"}, step.args...)...)
		calls := filepath.Join(root, "calls")
		if got := string(must.Get(os.ReadFile(calls))(t)); got != step.want {
			t.Errorf("rpm %s: the scripts called\n%s, want\n%s", step.args[0], got, step.want)
		}
		must.Succeed(t, os.Remove(calls))
		_, err := os.Stat(filepath.Join(root, "usr/bin/troupe"))
		if removed := errors.Is(err, fs.ErrNotExist); removed != (step.args[0] == "--erase") {
			t.Errorf("rpm %s: the program: %v", step.args[0], err)
		}
	}
}

// TestRPM compares the content of the RPM package with that of the Debian package.
func TestRPM(t *testing.T) {
	t.Parallel()
	need(t, "dpkg-deb")
	r := must.Get(built())(t)
	f := must.Get(os.Open(filepath.Join(r.out, "troupe-0.3.0-1.x86_64.rpm")))(t)
	defer f.Close()
	p := must.Get(rpmutils.ReadRpm(f))(t)
	name := must.Get(p.Header.GetNEVRA())(t)
	if got := name.String(); got != "troupe-0:0.3.0-1.x86_64.rpm" {
		t.Errorf("the package is %s", got)
	}
	unpacked := map[string]string{"rpm": t.TempDir(), "deb": t.TempDir()}
	must.Succeed(t, p.ExpandPayload(unpacked["rpm"]))
	outputOf(t, "dpkg-deb", "--extract", filepath.Join(r.out, "troupe_0.3.0-1_amd64.deb"), unpacked["deb"])
	modes := map[string]fs.FileMode{} // the payload is unpacked without modes
	for _, f := range must.Get(p.Header.GetFiles())(t) {
		modes[f.Name()] = fs.FileMode(f.Mode()).Perm()
	}
	content := map[string][]string{}
	for format, dir := range unpacked {
		must.Succeed(t, eachFile(os.DirFS(dir), func(name string, info fs.FileInfo) error {
			digest, err := sum(filepath.Join(dir, name))
			mode := info.Mode()
			if format == "rpm" {
				mode = modes["/"+name]
			}
			name = strings.Replace(name, "zsh/vendor-completions", "zsh/site-functions", 1)
			content[format] = append(content[format], fmt.Sprintln(name, mode, digest))
			return err
		}))
	}
	for _, f := range slices.Concat(content["deb"], content["rpm"]) {
		if !slices.Contains(content["rpm"], f) || !slices.Contains(content["deb"], f) {
			t.Errorf("only one of the packages has %s", f)
		}
	}
	if n := len(content["rpm"]); n < 50 {
		t.Errorf("%d files in the RPM package", n)
	}
	for tag, script := range map[int]string{rpmutils.POSTIN: "postinstall.sh", rpmutils.PREUN: "preremove.sh", rpmutils.POSTUN: "postremove.sh"} {
		want := string(must.Get(os.ReadFile(filepath.Join("packaging", script)))(t))
		if got := must.Get(p.Header.GetString(tag))(t); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s: got %s, want %s", script, got, want)
		}
	}
}
