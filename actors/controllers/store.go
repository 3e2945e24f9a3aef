package controllers

import "github.com/troupe-api/troupe/actors/controllers/internal/reconcile"

// Store is what the controllers need of the store.
type Store = reconcile.Store
