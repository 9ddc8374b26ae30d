package server_test

import (
	"context"
	"time"
)

var ctx = context.Background()

const (
	day      = 24 * time.Hour
	pushes   = "/api/v2/pushes"
	requests = "/api/v2/requests"
)
