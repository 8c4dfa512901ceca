// Search runs in a worker, and a browser starts none for pages that are opened as files. There a hidden frame does its work.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.onmessage = this.onerror = this.onmessageerror = null
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.srcdoc = "<!doctype html><title>search</title>"
      this.frame.onload = () => {
        const inside = this.frame.contentWindow
        inside.postMessage = data => setTimeout(() => this.onmessage && this.onmessage({ data }))
        const script = inside.document.createElement("script")
        script.onload = () => {
          const waiting = this.waiting
          this.waiting = null
          waiting.forEach(data => this.postMessage(data))
        }
        script.onerror = error => this.onerror && this.onerror(error)
        script.src = new URL(address, location.href).href
        inside.document.head.append(script)
      }
      document.body.append(this.frame)
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else setTimeout(() => this.frame.contentWindow.onmessage({ data }))
    }
    addEventListener(kind, listener) { this["on" + kind] = listener }
    terminate() { this.frame.remove() }
  }
}
