package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.members.Look.FileLook;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileLookTest {

  private static final String A = "- {name: a, url: 'http://10.0.0.1:8000'}\n";
  private static final String B = "- {name: b, url: 'http://10.0.0.2:8000'}\n";

  @TempDir Path folder;
  private Path file;
  private FileLook look;

  @BeforeEach
  void newLook() {
    file = folder.resolve("replicas.yaml");
    look = new FileLook(file);
  }

  /** What a change is needs two looks that agree. */
  private List<String> namesOfTwoLooks() throws IOException {
    List<String> before = names();
    List<String> now = names();
    assertThat(now).as("taken by the second look").isNotEqualTo(before);
    return now;
  }

  private List<String> names() throws IOException {
    return look.look().replicas().stream().map(ReplicaConfig::name).toList();
  }

  @Test
  void followsTheContent() throws IOException {
    Files.writeString(file, A);
    assertThat(names()).containsExactly("a");
    Files.writeString(file, A + B);
    assertThat(namesOfTwoLooks()).containsExactly("a", "b");
    Files.writeString(file, "[]");
    assertThat(namesOfTwoLooks()).isEmpty();
  }

  @Test
  void takesEveryKeyOfAReplicaInYamlAndInJson() throws IOException {
    Files.writeString(
        file,
        """
        - name: a
          url: http://10.0.0.1:8000
          events: tcp://10.0.0.1:5557
          dialect: sglang
          models: [m]
        """);
    ReplicaConfig yaml = look.look().replicas().get(0);
    assertThat(yaml.events()).isEqualTo("tcp://10.0.0.1:5557");
    Files.writeString(
        file,
        """
        [
        \t{"name": "a", "url": "http://10.0.0.1:8000", "events": "tcp://10.0.0.1:5557",
        \t "dialect": "sglang", "models": ["m"]}
        ]
        """);
    newLook();
    assertThat(look.look().replicas()).containsExactly(yaml);
  }

  @ParameterizedTest
  @ValueSource(strings = {"api-key-file", "hash-seed-file", "tls-ca"})
  void aFoundReplicaNamesNoFiles(String key) throws IOException {
    Path secret = Files.writeString(folder.resolve("secret"), "unmistakable");
    Files.writeString(file, A.replace("}", ", " + key + ": '" + secret + "'}"));
    assertThatIOException()
        .isThrownBy(look::look)
        .withMessageContaining("only the configuration may name files: 'replicas[]." + key + "'");
  }

  @Test
  void followsAFileThatTakesItsPlace() throws IOException {
    Files.writeString(file, A);
    assertThat(names()).containsExactly("a");
    Path next = Files.writeString(folder.resolve("next"), B);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    assertThat(namesOfTwoLooks()).containsExactly("b");
  }

  /** A ConfigMap's volume: the file is a link through {@code ..data}, which is replaced. */
  @Test
  void followsTheSwapOfAConfigMap() throws IOException {
    Path first = Files.createDirectory(folder.resolve("..1"));
    Path second = Files.createDirectory(folder.resolve("..2"));
    Files.writeString(first.resolve("replicas.yaml"), A);
    Files.writeString(second.resolve("replicas.yaml"), B);
    Path data = Files.createSymbolicLink(folder.resolve("..data"), Path.of("..1"));
    Files.createSymbolicLink(file, Path.of("..data", "replicas.yaml"));
    assertThat(names()).containsExactly("a");
    Path swap = Files.createSymbolicLink(folder.resolve("..data_tmp"), Path.of("..2"));
    Files.move(swap, data, StandardCopyOption.ATOMIC_MOVE);
    assertThat(namesOfTwoLooks()).containsExactly("b");
  }

  @Test
  void aBrokenFileNamesItsLineAndEveryProblem() throws IOException {
    Files.writeString(file, A);
    assertThat(names()).containsExactly("a");
    Files.writeString(file, A + "- {name: b, url: 'ftp://h'}\n- {name: c}\n");
    assertThat(names()).containsExactly("a");
    assertThatIOException()
        .isThrownBy(look::look)
        .withMessageContainingAll(
            file + ":2: replicas[]: 'url' must be http://host:port",
            file + ":3: 'replicas[].url' is missing");
    Files.writeString(file, "- {name: a\n");
    assertThat(names()).containsExactly("a");
    assertThatIOException().isThrownBy(look::look).withMessageStartingWith(file + ":2: ");
    Files.writeString(file, A + A);
    assertThat(names()).containsExactly("a");
    assertThatIOException().isThrownBy(look::look).withMessageContaining("'a' is given twice");
    Files.writeString(file, A);
    assertThat(names()).containsExactly("a");
  }

  @Test
  void aFileThatIsNoListIsAFailureAndNoEmptySet() throws IOException {
    assertThatIOException().isThrownBy(look::look).withMessage(file + ": no such file");
    Files.writeString(file, A);
    assertThatIOException().isThrownBy(look::look).withMessage(file + ": is being written");
    assertThat(names()).containsExactly("a");
    Files.writeString(file, "");
    assertThatIOException().isThrownBy(look::look).withMessage(file + ": is empty");
    for (String none : List.of("# replicas follow\n", "replicas: []", "{}")) {
      Files.writeString(file, none);
      assertThat(names()).containsExactly("a");
      assertThatIOException().isThrownBy(look::look).withMessage(file + ":1: a list expected");
    }
    Files.write(file, new byte[] {'[', (byte) 0xff, ']'});
    assertThat(names()).containsExactly("a");
    assertThatIOException().isThrownBy(look::look).withMessage(file + ": not UTF-8 text");
    Files.delete(file);
    Files.createDirectory(file);
    assertThatIOException().isThrownBy(look::look).withMessage(file + ": not a regular file");
  }
}
