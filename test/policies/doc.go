// Package policies tests admission policies through the HTTP interface of a daemon, under both naming profiles.
package policies
