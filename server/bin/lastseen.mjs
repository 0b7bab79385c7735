#!/usr/bin/env node
import '../../scripts/start.mjs'
