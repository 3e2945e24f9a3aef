//go:build !linux

package vfs

import "errors"

// Allocate implements File.
func (osFile) Allocate(int64) error { return errors.ErrUnsupported }
