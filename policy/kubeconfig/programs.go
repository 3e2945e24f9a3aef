package kubeconfig

import (
	"cmp"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Programs say how programs that give credentials are run. The zero value is for a process without a terminal.
type Programs struct {
	// Stdin is offered to programs if it is a terminal; nil: there is none.
	Stdin *os.File
	// StdinUse says what the standard input is used for otherwise, such as "-f -"; "" is nothing.
	StdinUse string
	// Stderr gets what programs tell people, and warnings; nil: nobody reads it.
	Stderr io.Writer
	// Timeout is for one run, or for asking an identity provider [1m].
	Timeout time.Duration
}

// maxOutput bounds what a program or an identity provider answers, in bytes.
const maxOutput = 1 << 20

func (p Programs) timeout() time.Duration { return cmp.Or(p.Timeout, time.Minute) }

func (p Programs) stderr() io.Writer {
	if p.Stderr == nil {
		return io.Discard
	}
	return p.Stderr
}

// Modes in which programs use the standard input.
const (
	neverInteractive  = "Never"
	maybeInteractive  = "IfAvailable"
	alwaysInteractive = "Always"
)

// interactive tells whether a program of a mode gets the standard input.
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
