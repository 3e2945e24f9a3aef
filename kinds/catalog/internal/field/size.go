package field

import (
	"encoding/base64"
)

// DecodedSize is the number of bytes that base64 text stands for. It counts without decoding, which for a
// megabyte would allocate as much again.
func DecodedSize(s string) int {
	n := base64.StdEncoding.DecodedLen(len(s))
	for i := len(s); i > 0 && s[i-1] == '='; i-- {
		n--
	}
	return n
}
