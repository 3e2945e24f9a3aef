package client

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// InTerminal makes standard input the controlling terminal of a command that has not been started.
func InTerminal(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} }

// ResizeTerminal sets the size of a terminal, in characters.
func ResizeTerminal(keyboard *os.File, width, height int) error {
	return control(keyboard, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)})
	})
}

// TerminalMode returns the mode of a terminal. raw reports whether the terminal is in raw mode.
func TerminalMode(terminal *os.File) (mode any, raw bool, err error) {
	m, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		return nil, false, err
	}
	return *m, m.Lflag&unix.ISIG == 0, nil
}

// OpenTerminal opens a pseudoterminal. Writes to keyboard are terminal input, and reads from
// keyboard return its output.
func OpenTerminal(t testing.TB) (terminal, keyboard *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keyboard.Close() })
	var n int
	err = control(keyboard, func(fd int) (err error) {
		if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
			n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return terminal, keyboard
}

// control calls f with a file's descriptor. Unlike File.Fd, it keeps the file's deadlines.
func control(file *os.File, f func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err == nil {
		if failed := raw.Control(func(fd uintptr) { err = f(int(fd)) }); failed != nil {
			err = failed
		}
	}
	return err
}
