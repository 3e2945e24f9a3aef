// Package document reads and writes objects as JSON and YAML. It preserves integers.
package document
