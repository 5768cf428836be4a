features: {http3: true}
