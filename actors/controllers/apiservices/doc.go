// Package apiservices provides the controllers for APIServices, and defines how other controllers
// access the extension API servers behind them (Servers).
//
//	Registration  maintains an APIService for each version served locally
//	Availability  maintains the Available condition, and Metrics
package apiservices
