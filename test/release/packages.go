package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// packages writes the Debian and RPM packages of a program. An upgrade restarts a running server.
// Removing a package keeps the data directory and the user.
func (r *release) packages(s staged) error {
	dir := filepath.Join(r.work, "package_"+s.platform.arch)
	if err := errors.Join(r.unit(filepath.Join(dir, "troupe.service")), compressManual(s, filepath.Join(dir, "man"))); err != nil {
		return err
	}
	packaging := func(name string) string { return filepath.Join(r.source, "test/release/packaging", name) }
	contents := files.Contents{
		{Source: s.file("troupe"), Destination: "/usr/bin/troupe"},
		{Source: filepath.Join(dir, "troupe.service"), Destination: "/usr/lib/systemd/system/troupe.service"},
		{Source: packaging("sysusers.conf"), Destination: "/usr/lib/sysusers.d/troupe.conf"},
		{Source: packaging("troupe.yaml"), Destination: "/etc/troupe/troupe.yaml", Type: files.TypeConfigNoReplace},
		{Source: s.file("LICENSE"), Destination: "/usr/share/doc/troupe/copyright"},
		{Source: s.file("THIRD_PARTY_NOTICES.txt"), Destination: "/usr/share/doc/troupe/THIRD_PARTY_NOTICES.txt"},
		{Source: s.file("completions/troupe.bash"), Destination: "/usr/share/bash-completion/completions/troupe"},
		{Source: s.file("completions/_troupe"), Destination: "/usr/share/zsh/site-functions/_troupe", Packager: "rpm"},
		{Source: s.file("completions/_troupe"), Destination: "/usr/share/zsh/vendor-completions/_troupe", Packager: "deb"},
		{Source: s.file("completions/troupe.fish"), Destination: "/usr/share/fish/vendor_completions.d/troupe.fish"},
		{Source: filepath.Join(dir, "man"), Destination: "/usr/share/man/man1", Type: files.TypeTree},
	}
	for _, c := range contents {
		if c.Type != files.TypeTree {
			c.FileInfo = &files.ContentFileInfo{Owner: "root", Group: "root", Mode: 0o644, MTime: r.date}
		}
	}
	contents[0].FileInfo.Mode = 0o755
	info := &nfpm.Info{
		Name: "troupe", Arch: s.platform.arch, Platform: "linux", Version: r.version, Release: "1", Section: "admin", Priority: "optional",
		Maintainer: "The Troupe authors <" + homepage + ">", Description: "Kubernetes-compatible API server in one binary",
		Homepage: homepage, License: "Apache-2.0", MTime: r.date,
		Overridables: nfpm.Overridables{
			Contents: contents,
			Scripts:  nfpm.Scripts{PostInstall: packaging("postinstall.sh"), PreRemove: packaging("preremove.sh"), PostRemove: packaging("postremove.sh")},
			RPM:      nfpm.RPM{BuildHost: "troupe", Group: "System Environment/Daemons"},
		},
	}
	for format, packager := range map[string]nfpm.Packager{"deb": deb.Default, "rpm": rpm.DefaultRPM} {
		info := *info
		if err := nfpm.PrepareForPackager(&info, format); err != nil {
			return err
		}
		name := packager.ConventionalFileName(&info)
		if err := create(filepath.Join(r.out, name), func(w io.Writer) error { return packager.Package(&info, w) }); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// unit writes the systemd unit of docs/deploy, with the user and settings file of the package.
func (r *release) unit(to string) error {
	text, err := os.ReadFile(filepath.Join(r.source, "docs/deploy/troupe.service"))
	if err != nil {
		return err
	}
	unit := string(text)
	for _, change := range []struct{ from, to string }{
		{"DynamicUser=yes\n", "User=troupe\nGroup=troupe\n"},
		{"ExecStart=/usr/local/bin/troupe serve --data-dir=/var/lib/troupe --naming=kubernetes --bind-address=0.0.0.0\n", "ExecStart=/usr/bin/troupe serve --config=/etc/troupe/troupe.yaml\n"},
	} {
		if strings.Count(unit, change.from) != 1 {
			return fmt.Errorf("docs/deploy/troupe.service has no line %q; adapt test/release/packages.go", change.from)
		}
		unit = strings.Replace(unit, change.from, change.to, 1)
	}
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, []byte(unit), 0o644))
}

// compressManual compresses the man pages, as distributions do.
func compressManual(s staged, to string) error {
	pages, err := filepath.Glob(s.file("man/man1/*.1"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err = z.Write(text)
		if err := errors.Join(err, z.Close(), os.WriteFile(filepath.Join(to, filepath.Base(page)+".gz"), b.Bytes(), 0o644)); err != nil {
			return err
		}
	}
	return nil
}
