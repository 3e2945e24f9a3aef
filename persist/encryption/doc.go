// Package encryption encrypts values before the log stores them.
//
//	Configuration   the file of --encryption-provider-config: which resources are encrypted, and how
//	Transformer     the persist.Transformer of a configuration, which can be replaced while in use
//	provider        an encryption scheme: a key of aesgcm, aescbc or secretbox, a KMS plugin, or
//	                identity, which does not encrypt
//
// A resource's first provider encrypts new values, and all its providers decrypt. A resource
// without an entry has only identity.
//
// # Stored values
//
// identity stores the value itself, a JSON object. All other stored values begin with a prefix that
// names the provider and key:
//
//	enc:aesgcm:v1:<key>:      salt (32 bytes), nonce (12), AES-256-GCM of the value with its tag (16)
//	enc:aescbc:v1:<key>:      initialization vector (16), AES-CBC of the value with PKCS #7 padding,
//	                          tag (32)
//	enc:secretbox:v1:<key>:   nonce (24), XSalsa20-Poly1305 of the SHA-256 of the place and the value
//	enc:kms:v2:<plugin>:      length of the header (unsigned varint), header, then as with aesgcm
//
// Names are escaped as in URL queries. Each value is bound to its place: one byte, 0 for a value
// and 1 for metadata, the revision (8 bytes, little-endian) and the storage key. The place is
// additional data for aesgcm and kms, and part of the tag's input for aescbc. A value moved to
// another place therefore does not decrypt. Stores that assign revisions later (Unversioned) bind
// values to revision 0, so an older value of the same key does decrypt.
//
//   - aesgcm: the key is HKDF-SHA-256 of the secret, with the salt as salt and "troupe aesgcm v1"
//     as info. A process uses a random salt for 2^24 values, with random nonces. This stays below
//     the safe number of values per key.
//   - aescbc: HKDF-SHA-256 derives two keys from the secret without a salt, with the infos "troupe
//     aescbc v1 encrypt" and "… authenticate". The tag is HMAC-SHA-256 of the length of the place
//     (8 bytes, little-endian), the place, the vector and the ciphertext, and is verified before
//     decryption.
//   - kms: the header is a Protobuf message: 2 the ID of the plugin's key, 3 the seed as encrypted
//     by the plugin, 4 the annotations (a map) that the plugin needs for decryption. The seed, 32
//     random bytes, is the secret of aesgcm. A process creates a new seed on startup and whenever
//     the plugin reports another key.
//
// # Invariants
//
//   - Values of a resource whose first provider is not identity are never written unencrypted.
//   - Unencrypted values are rejected unless identity is a provider of the resource. An attacker
//     with write access to the files therefore cannot inject values.
//   - A value is stale (Transformer.Stale) until its resource's first provider has written it. All
//     values up to a resource's newest stale revision count as stale.
//   - An unusable configuration changes nothing.
package encryption
