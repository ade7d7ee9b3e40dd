// Reads the words that people of this house use, and doubts what is only hoped for.
import { definePlugin } from "ralph";

export default definePlugin({
  apiVersion: 1,
  name: "house-words",
  analyzers: {
    words: {
      analyze({ finalText }) {
        const signals = [];
        if (/\bready for review\b/i.test(finalText))
          signals.push({ says: "complete", confidence: 90, because: "it says that it is ready for review" });
        if (/\bI (?:hope|guess)\b/.test(finalText))
          signals.push({ says: "doubt", confidence: 80, because: "the agent only hopes that it is right" });
        return signals;
      },
    },
  },
});
