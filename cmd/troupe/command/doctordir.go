package command

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/policy/certs"
)

func (d *diagnosis) lookAtDirectory(dir string) {
	d.printf("directory %s\n", dir)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.fault("Give the directory of --data-dir, or create it on first start: troupe serve --data-dir "+dir, "the directory does not exist")
		return
	case err != nil:
		d.fault(asOwner(dir), "%v", err)
		return
	case !info.IsDir():
		d.fault("Give the directory of --data-dir. If the file is a backup: troupe restore --data-dir NEW "+dir, "it is not a directory")
		return
	}
	if info.Mode().Perm()&0o077 != 0 {
		d.fault("It holds Secrets and private keys: chmod 0700 "+dir, "other users may read it (mode %04o)", info.Mode().Perm())
	} else {
		d.ok("only its owner may read it")
	}
	d.lookAtFileSystem(dir)
	d.lookAtContent(dir)
	certDir, err := daemon.CertDir(dir)
	if err != nil {
		return // lookAtContent has reported the error
	}
	d.lookAtKeys(dir)
	d.lookAtCertificates(certDir)
}

func (d *diagnosis) lookAtKeys(dir string) {
	faults, err := daemon.CheckCertificates(dir)
	if err != nil {
		d.fault(asOwner(dir), "%v", err)
		return
	}
	for _, fault := range faults {
		advice := asOwner(dir)
		if file, ok := errors.AsType[*certs.FileError](fault); ok {
			advice = "Then troupe serve --data-dir " + dir + ", after this: " + file.Advice
		}
		d.fault(advice, "%v", fault)
	}
	if len(faults) == 0 {
		d.ok("the certificates and keys match the data")
	}
}

type fileSystem struct {
	free  float64 // bytes available to the daemon
	doubt string  // why it is unsuitable; "" if it is suitable
}

// littleRoom is the free space, in bytes, below which doctor warns that a snapshot may not fit.
const littleRoom = 1 << 30

func (d *diagnosis) lookAtFileSystem(dir string) {
	system, err := fileSystemOf(dir)
	if err != nil {
		d.fault(asOwner(dir), "the file system: %v", err)
		return
	}
	if system.doubt != "" {
		d.warn("Stop the server and move it to a local disk, unless the data may be lost: cp -a "+dir+" /LOCAL/DISK", "it is on %s", system.doubt)
	}
	if system.free < littleRoom {
		d.warn("Free space before writes are rejected: a snapshot needs as much space as the state, in addition to the previous one. This shows what can go: du -h "+dir, "%s are free on the file system", size(system.free))
	} else {
		d.ok("%s are free on the file system", size(system.free))
	}
}

func (d *diagnosis) lookAtContent(dir string) {
	if _, err := os.Stat(filepath.Join(dir, "restoring")); err == nil {
		d.fault("Repeat the restore: troupe restore --data-dir "+dir+" FILE", "a restore is incomplete, and the directory cannot be opened")
		return
	}
	if _, err := os.Stat(filepath.Join(dir, "format")); errors.Is(err, fs.ErrNotExist) {
		if exists(filepath.Join(dir, "etcd")) {
			d.ok("its state is in etcd")
			return
		}
		d.fault("Is this the right directory? If it is, its state is lost: troupe restore --data-dir NEW BACKUP", "it holds no state")
		return
	}
	var report bytes.Buffer
	ok, err := persist.Verify(dir, &report, persist.Checks{})
	if err != nil {
		d.fault(asOwner(dir), "it cannot be read: %v", err)
		return
	}
	if ok {
		d.ok("all checksums are correct")
		return
	}
	const restore = "Check the disk first (journalctl -k). Then restore a backup; without one, see 'Data loss' in docs/operations.md: troupe restore --data-dir NEW BACKUP"
	for line := range strings.Lines(report.String()) {
		if what, ok := strings.CutPrefix(strings.TrimSpace(line), "FAULT "); ok {
			d.fault(restore, "%s", what)
		}
	}
}

func (d *diagnosis) lookAtCertificates(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.crt"))
	if err != nil || len(files) == 0 {
		d.ok("there are no self-issued certificates")
		return
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			d.fault(asOwner(filepath.Dir(dir)), "%v", err)
			continue
		}
		block, _ := pem.Decode(text)
		if block == nil {
			continue // lookAtKeys reports faults of the daemon's own files
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			continue
		}
		advice := "Start the server, which renews self-issued certificates: troupe serve --data-dir " + filepath.Dir(dir)
		if c.IsCA {
			advice = "Let the server introduce a new CA beside this one, and give clients the new ca.crt, which has both: touch " + filepath.Join(dir, "ca.renew")
		}
		d.lookAtExpiry(filepath.Base(file), c, advice)
	}
}

// asOwner is the advice if a file cannot be read.
func asOwner(dir string) string {
	return "Run this command as the user of the server: sudo -u USER troupe doctor --data-dir " + dir
}
