// Package document reads and writes objects as people and servers write them: JSON and YAML as trees. Whole numbers stay whole.
package document
