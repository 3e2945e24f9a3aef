package codec

import (
	"encoding/binary"
	"math"
)

// A CBOR item (RFC 8949) begins with a head: three bits of major type, and five bits that contain
// the argument or its size.
const (
	cborUint   = 0 // the argument is the number
	cborNegInt = 1 // the number is -1 minus the argument
	cborBytes  = 2 // the argument is the length in bytes
	cborText   = 3 // the argument is the length in bytes of UTF-8
	cborArray  = 4 // the argument is the number of items
	cborMap    = 5 // the argument is the number of pairs
	cborTag    = 6 // the argument is the tag of the next item
	cborSimple = 7 // false, true, null and floating-point numbers
)

// Five-bit values from cborArgument8 on specify the size of the argument that follows. Smaller
// values are the argument itself.
const (
	cborArgument8  = 24
	cborArgument16 = 25
	cborArgument32 = 26
	cborArgument64 = 27
	cborIndefinite = 31 // items follow until a break; with cborSimple, the break itself
)

// Arguments of cborSimple that correspond to JSON values.
const (
	cborFalse = 20
	cborTrue  = 21
	cborNull  = 22
)

const (
	tagTimeText  = 0 // RFC 3339
	tagTimeEpoch = 1 // seconds since 1970
	tagBignum    = 2 // with tagNegBignum: integers of any size
	tagNegBignum = 3
	tagBase64URL = 21 // byte strings in the item become strings in this encoding
	tagBase64    = 22
	tagBase16    = 23
	tagCBOR      = 55799 // marks the document as CBOR
)

// selfDescribedCBOR is the encoded tagCBOR, which begins every document.
const selfDescribedCBOR = "\xd9\xd9\xf7"

func appendCBORHead(b []byte, major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n < cborArgument8:
		return append(b, major|byte(n))
	case n <= math.MaxUint8:
		return append(b, major|cborArgument8, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|cborArgument16), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|cborArgument32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|cborArgument64), n)
}

func appendCBORString(b []byte, s string) []byte {
	return append(appendCBORHead(b, cborBytes, uint64(len(s))), s...)
}

func appendCBORInt(b []byte, n int64) []byte {
	if n < 0 {
		return appendCBORHead(b, cborNegInt, uint64(^n))
	}
	return appendCBORHead(b, cborUint, uint64(n))
}

func appendCBORFloat(b []byte, n float64) []byte {
	single := float32(n)
	if float64(single) != n {
		return binary.BigEndian.AppendUint64(append(b, cborSimple<<5|cborArgument64), math.Float64bits(n))
	}
	if half, ok := toHalf(single); ok {
		return binary.BigEndian.AppendUint16(append(b, cborSimple<<5|cborArgument16), half)
	}
	return binary.BigEndian.AppendUint32(append(b, cborSimple<<5|cborArgument32), math.Float32bits(single))
}

// A half-precision number (IEEE 754 binary16) has a sign bit, five exponent bits and ten fraction
// bits.
const (
	halfFraction = 10
	halfBias     = 15
	singleBias   = 127
	singleToHalf = 23 - halfFraction // fraction bits that a float32 has in addition to a half
)

// toHalf converts a number to half precision. ok is false if the conversion is not exact.
func toHalf(n float32) (half uint16, ok bool) {
	bits := math.Float32bits(n)
	sign, fraction := uint16(bits>>16)&0x8000, bits&(1<<23-1)
	exponent := int(bits>>23&0xff) - singleBias + halfBias
	switch {
	case bits<<1 == 0:
		return sign, true
	case exponent >= 1 && exponent <= 2*halfBias:
		return sign | uint16(exponent)<<halfFraction | uint16(fraction>>singleToHalf), fraction&(1<<singleToHalf-1) == 0
	case exponent > -halfFraction && exponent < 1: // subnormal: the leading one becomes explicit
		shift := singleToHalf + 1 - exponent
		fraction |= 1 << 23
		return sign | uint16(fraction>>shift), fraction&(1<<shift-1) == 0
	}
	return 0, false
}

func fromHalf(half uint16) float64 {
	exponent, fraction := int(half>>halfFraction&0x1f), float64(half&(1<<halfFraction-1))
	var n float64
	switch exponent {
	case 0:
		n = math.Ldexp(fraction, 1-halfBias-halfFraction)
	case 0x1f:
		n = math.Inf(1)
		if fraction != 0 {
			n = math.NaN()
		}
	default:
		n = math.Ldexp(fraction+1<<halfFraction, exponent-halfBias-halfFraction)
	}
	if half&0x8000 != 0 {
		return -n
	}
	return n
}
