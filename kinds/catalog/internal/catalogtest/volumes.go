package catalogtest

import (
	"strings"
)

// Volume is the body of a PersistentVolume with fields of its spec beyond size and mode.
func Volume(spec string) string {
	return `{"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],` + spec + `}}`
}

const CSIVolume = `"csi":{"driver":"d","volumeHandle":"h"}`

// Claim is the body of a claim with fields of its spec beyond size and mode.
func Claim(spec string) string {
	return `{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"2Gi"}}` + spec + `}}`
}

// BoundClaim is like claim, with a status.
func BoundClaim(spec, status string) string {
	return strings.TrimSuffix(Claim(spec), "}") + `,"status":{"phase":"Bound"` + status + `}}`
}
