//go:build !linux

package vfs

import "errors"

func (osFile) Allocate(int64) error { return errors.ErrUnsupported }

func (osFile) Zero(from, to int64) error { return errors.ErrUnsupported }
