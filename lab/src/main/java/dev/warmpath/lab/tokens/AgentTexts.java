package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

/**
 * Texts of recorded calls: one JSON object a line, whose input is the whole prompt and whose output
 * is the answer.
 *
 * @param inputs the prompts in the order of the file
 * @param outputs the answers, each once, behind each other
 */
record AgentTexts(List<String> inputs, String outputs) {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  AgentTexts {
    inputs = List.copyOf(inputs);
  }

  /** Reads a file of lines, compressed if its name ends so, or the only such file of a folder. */
  static AgentTexts read(Path fileOrFolder) throws IOException {
    Path file = Files.isDirectory(fileOrFolder) ? only(fileOrFolder) : fileOrFolder;
    List<String> inputs = new ArrayList<>();
    Set<String> outputs = new LinkedHashSet<>();
    try (BufferedReader lines = open(file)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        JsonNode call = MAPPER.readTree(line);
        inputs.add(call.path("input").asText());
        outputs.add(call.path("output").asText());
      }
    }
    if (inputs.isEmpty()) {
      throw new IOException("no calls in " + file);
    }
    return new AgentTexts(inputs, String.join("\n", outputs));
  }

  private static Path only(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().matches(".*\\.jsonl(\\.gz)?"))
          .findFirst()
          .orElseThrow(() -> new IOException("no .jsonl or .jsonl.gz in " + folder));
    }
  }

  private static BufferedReader open(Path file) throws IOException {
    InputStream in = Files.newInputStream(file);
    InputStream plain = file.toString().endsWith(".gz") ? new GZIPInputStream(in) : in;
    return new BufferedReader(new InputStreamReader(plain, StandardCharsets.UTF_8));
  }
}
