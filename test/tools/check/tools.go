//go:build unix

package main

import (
	"fmt"
	"io"
	"os/exec"
)

type tool struct {
	program, pkg string // names of the program and of the Debian package
	reason       string
}

var tools = []tool{
	{"openssl", "openssl", "certificate requests"},
	{"strace", "strace", "system calls that fail"},
	{"mkfs.ext4", "e2fsprogs", "power cuts"},
}

func (t tool) install() string { return "apt-get install " + t.pkg }

func missingTools(out io.Writer) (missing []tool) {
	for _, t := range tools {
		if _, err := exec.LookPath(t.program); err != nil {
			missing = append(missing, t)
			fmt.Fprintf(out, "%s is missing, so tests of %s are skipped; %s installs it\n", t.program, t.reason, t.install())
		}
	}
	return missing
}
