package dev.warmpath.simulator.bench.generate.requests;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/**
 * Requests of a Mooncake trace: one JSON object a line with {@code timestamp} in ms, {@code
 * input_length} in tokens and {@code hash_ids}, one for each 512 tokens.
 *
 * <p>Immutable.
 *
 * @param file {@code *.jsonl} or {@code *.jsonl.gz}
 * @param blockTokens tokens a block, a divisor of 512
 * @param limit the most requests
 */
public record MooncakeTrace(Path file, int blockTokens, int limit) implements RequestSource {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final int TOKENS_PER_ID = 512;

  @Override
  public void feed(Sink sink) throws IOException {
    try (BufferedReader lines = open()) {
      String line = lines.readLine();
      for (int number = 1; line != null && number <= limit; number++) {
        try {
          JsonNode request = MAPPER.readTree(line);
          int[] chain = chain(request);
          if (chain.length > 0) {
            sink.request(request.path("timestamp").asDouble() / 1000, chain);
          }
        } catch (IOException e) {
          throw new IOException(file + ": line " + number + ": no JSON object", e);
        }
        line = lines.readLine();
      }
    }
  }

  private int[] chain(JsonNode request) {
    JsonNode ids = request.path("hash_ids");
    int perId = TOKENS_PER_ID / blockTokens;
    int[] chain =
        new int[Math.min(request.path("input_length").asInt() / blockTokens, ids.size() * perId)];
    for (int i = 0; i < chain.length; i++) {
      chain[i] = ids.path(i / perId).asInt() * perId + i % perId;
    }
    return chain;
  }

  private BufferedReader open() throws IOException {
    InputStream bytes = Files.newInputStream(file);
    InputStream plain = file.toString().endsWith(".gz") ? new GZIPInputStream(bytes) : bytes;
    return new BufferedReader(new InputStreamReader(plain, StandardCharsets.UTF_8));
  }
}
