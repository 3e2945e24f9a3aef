// Package printer prints objects in the formats of the flag --output, and tables from servers.
package printer
