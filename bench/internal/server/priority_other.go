//go:build !linux

package server

import "errors"

// Prioritize is not known here.
func Prioritize() (end func() error, err error) { return nil, errors.ErrUnsupported }

// Deprioritize is not known here.
func Deprioritize() error { return errors.ErrUnsupported }
