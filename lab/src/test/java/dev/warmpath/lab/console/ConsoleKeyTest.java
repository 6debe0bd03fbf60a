package dev.warmpath.lab.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigTree;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The console of a router that asks for its admin key and has no replicas yet. */
@Timeout(180)
class ConsoleKeyTest {

  @TempDir private Path folder;

  @Test
  void thePageAsksForTheKeyUntilItIsRight() throws Exception {
    Path key = Files.writeString(folder.resolve("key"), "a-key-of-operators\n");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    ConfigTree tree =
        ConfigTree.empty()
            .set("listen.port", 0, "test")
            .set("admin.port", 0, "test")
            .set("admin.key-file", key.toString(), "test");
    try (Browser browser = Browser.start();
        RouterProcess router = RouterProcess.start(tree.config())) {
      browser.screen(1400, 900);
      browser.open("http://127.0.0.1:" + router.adminPort() + "/admin/ui");
      browser.awaitText("This router asks for its admin key.");
      browser.await("dialog button[type=button]").click();
      browser.awaitText("The admin key is needed");

      browser.awaitText("Enter the key").click();
      browser.await("dialog input").sendKeys("wrong");
      browser.await("dialog button[type=submit]").click();
      browser.awaitText("The router refused this key.");

      browser.await("dialog input").sendKeys("a-key-of-operators");
      browser.await("dialog button[type=submit]").click();
      browser.awaitText("No replicas");
      assertThat(browser.run("return Object.values(localStorage).join()").toString())
          .doesNotContain("operators");
    }
  }
}
