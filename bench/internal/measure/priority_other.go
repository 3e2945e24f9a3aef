//go:build !linux

package measure

import "errors"

// Prioritize is not known here.
func Prioritize() (end func() error, err error) { return nil, errors.ErrUnsupported }
