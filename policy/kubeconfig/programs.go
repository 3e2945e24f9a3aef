package kubeconfig

import (
	"cmp"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Programs configure how credential plugins are run. The zero value is for a process without a
// terminal.
type Programs struct {
	// Stdin is passed to programs if it is a terminal; may be nil.
	Stdin *os.File
	// StdinUse says what else uses standard input, such as "-f -"; "" if nothing does.
	StdinUse string
	// Stderr receives messages of programs and warnings; nil discards them.
	Stderr io.Writer
	// Timeout limits one run, or a request to an identity provider [1m].
	Timeout time.Duration
}

// maxOutput limits the output of a program or an identity provider, in bytes.
const maxOutput = 1 << 20

func (p Programs) timeout() time.Duration { return cmp.Or(p.Timeout, time.Minute) }

func (p Programs) stderr() io.Writer {
	if p.Stderr == nil {
		return io.Discard
	}
	return p.Stderr
}

const (
	neverInteractive  = "Never"
	maybeInteractive  = "IfAvailable"
	alwaysInteractive = "Always"
)

func (p Programs) interactive(mode string) (bool, error) {
	if mode == neverInteractive {
		return false, nil
	}
	why := ""
	switch {
	case p.StdinUse != "":
		why = "standard input is used by " + p.StdinUse
	case p.Stdin == nil || !term.IsTerminal(int(p.Stdin.Fd())):
		why = "standard input is not a terminal"
	}
	if why != "" && mode == alwaysInteractive {
		return false, errors.New(why + ", and the plugin has the interactiveMode Always")
	}
	return why == "", nil
}
