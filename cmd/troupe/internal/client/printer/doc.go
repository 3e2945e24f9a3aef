// Package printer prints objects in the --output formats, and server-side tables.
package printer
