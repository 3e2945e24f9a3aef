// Package document reads and writes objects as JSON and YAML. Integers stay integers.
package document
