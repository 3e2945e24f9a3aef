// Package encryption encrypts values before the log stores them, and decrypts them when it reads them again.
//
// Its nouns:
//
//	Configuration   which resources are encrypted, and with what: the file of --encryption-provider-config
//	Transformer     the persist.Transformer of a configuration, which may be replaced while it is in use
//	provider        one way to encrypt: a key of aesgcm, aescbc or secretbox, a KMS plugin, or identity, which does not
//
// The first provider of a resource writes; all of them read. A resource without an entry has identity alone.
//
// # Stored values
//
// What identity writes is the value itself, a JSON object. All else begins with a text that names the provider, so that
// each value tells which key it needs:
//
//	enc:aesgcm:v1:<key>:      salt (32 bytes), nonce (12), AES-256-GCM of the value with its tag (16)
//	enc:aescbc:v1:<key>:      initialization vector (16), AES-CBC of the value padded as in PKCS #7, tag (32)
//	enc:secretbox:v1:<key>:   nonce (24), XSalsa20-Poly1305 of the value after the SHA-256 of its place
//	enc:kms:v2:<plugin>:      length of the header (unsigned varint), header, then as with aesgcm
//
// Names are escaped as in URL queries. The place that a value is bound to is one byte, 0 for a value and 1 for
// metadata, the revision (8 bytes, little-endian) and the storage key. With aesgcm and kms it is the additional data, with
// aescbc it is part of what the tag is over, and with secretbox its digest is encrypted with the value. So a value that
// was moved, to another key, to another revision, or from the value to the metadata, does not decrypt.
//
//   - aesgcm: the key is HKDF-SHA-256 of the secret, with the salt as salt and "troupe aesgcm v1" as info. A process
//     uses a random salt for 2^24 values, with random nonces: the bound on values per key, which random nonces have, is
//     never reached, however often snapshots write all of them anew.
//   - aescbc: two keys are derived from the secret by HKDF-SHA-256 without a salt, with the infos "troupe aescbc v1
//     encrypt" and "… authenticate". The tag is HMAC-SHA-256 of the length of the place (8 bytes, little-endian), the place,
//     the vector and the ciphertext, and is compared before anything is decrypted.
//   - kms: the header is a Protobuf message: 2 the id of the key that the plugin has used, 3 the seed as the plugin has
//     encrypted it, 4 annotations (a map) that it wants back. The seed, 32 random bytes, is the secret of aesgcm. A
//     process makes one when it starts and one whenever the plugin reports another key.
//
// # Invariants
//
//   - Values of a resource whose first provider is not identity are never written in clear.
//   - Values of a resource without identity among its providers are not read in clear: who can write files cannot slip
//     one in.
//   - A value that was not written by the first provider of its resource is stale (Transformer.Stale) until it is written
//     again. That is decided by revisions: all that are not above the newest stale one count as stale.
//   - A configuration that cannot be used changes nothing.
//
// Keys are not wiped from memory, where the values themselves are in clear.
package encryption
