//go:build load

package browser

// kills is the number of times TestKills ends the server. Run it on an idle machine:
//
//	go test -tags load -run TestKills -v ./handlers/browser
const kills = 200
