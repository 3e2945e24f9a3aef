package kubeconfig

import (
	"cmp"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Programs configures how credential plugins are run. The zero value suits a process without a
// terminal.
type Programs struct {
	// Stdin is passed to plugins if it is a terminal. It may be nil.
	Stdin *os.File
	// StdinUse is the command-line option that reads standard input, such as "-f -". If it is set,
	// plugins cannot use standard input.
	StdinUse string
	// Stderr receives warnings and the standard error of plugins. If Stderr is nil, both are
	// discarded.
	Stderr io.Writer
	// Timeout limits one run of a plugin, or one request to an identity provider. The default is
	// one minute.
	Timeout time.Duration
}

// maxOutput is the maximum size of a plugin's output or an identity provider's response in bytes.
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
