import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'
import './app.css'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { registerServiceWorker } from './api/service-worker.ts'
import { App } from './app.tsx'

const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? ''
setNonce(nonce)

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App styleNonce={nonce} />
  </StrictMode>,
)

registerServiceWorker()
