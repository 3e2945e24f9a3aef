//go:build !linux

package vfs

import "errors"

// Allocate implements File.
func (osFile) Allocate(int64) error { return errors.ErrUnsupported }

// Zero implements File.
func (osFile) Zero(from, to int64) error { return errors.ErrUnsupported }
