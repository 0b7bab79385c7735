// Receives webhook events from Lastseen. Go 1.21 or newer, standard library only.
//
//	WEBHOOK_SECRET=whsec_… PORT=9000 go run receiver.go
//
// It speaks plain HTTP: put it behind something that speaks HTTPS, because Lastseen calls nothing else.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

type location struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type assetMoved struct {
	Event      string    `json:"event"`
	DeliveryID string    `json:"delivery_id"`
	OccurredAt time.Time `json:"occurred_at"`
	Data       struct {
		Asset struct {
			ID          int64  `json:"id"`
			ExternalKey string `json:"external_key"`
			Name        string `json:"name"`
		} `json:"asset"`
		From *location `json:"from_location"`
		To   location  `json:"to_location"`
	} `json:"data"`
}

var secret = []byte(os.Getenv("WEBHOOK_SECRET"))

const tolerance = 5 * time.Minute

// The key is the secret as it was shown, whsec_ included; the text is the timestamp, a dot, and the raw bytes.
func isGenuine(timestamp, signature string, body []byte) bool {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(expected), []byte(signature))
}

func isRecent(timestamp string) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	age := time.Since(time.Unix(seconds, 0))
	return age.Abs() <= tolerance
}

// An event may come twice. Keep these ids where they survive a restart, at least for a few minutes.
var seen sync.Map

func handle(moved assetMoved) {
	origin := "(nowhere)"
	if moved.Data.From != nil {
		origin = moved.Data.From.Name
	}
	fmt.Println(moved.OccurredAt.Format(time.RFC3339), moved.Data.Asset.ExternalKey, origin, "->", moved.Data.To.Name)
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	timestamp := r.Header.Get("X-Service-Timestamp")
	if !isGenuine(timestamp, r.Header.Get("X-Service-Signature"), body) || !isRecent(timestamp) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var moved assetMoved
	if err := json.Unmarshal(body, &moved); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	// Answer within 5 seconds; do longer work in the background.
	w.WriteHeader(http.StatusNoContent)
	if moved.Event != "asset.moved" {
		return
	}
	if _, isKnown := seen.LoadOrStore(moved.DeliveryID, true); !isKnown {
		go handle(moved)
	}
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "9000"
	}
	http.HandleFunc("/", receive)
	fmt.Println("listening on port", port)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
