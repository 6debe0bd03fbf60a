package dev.warmpath.lab.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** A Chromium without a screen. Tests that need it are skipped where none is installed. */
final class Browser implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final ChromeDriver driver;

  private Browser(ChromeDriver driver) {
    this.driver = driver;
    driver.manage().timeouts().implicitlyWait(PATIENCE);
  }

  static Browser start() {
    Optional<File> browser = program("chromium", "chromium-browser", "google-chrome");
    Optional<File> control = program("chromedriver");
    Assumptions.assumeTrue(
        browser.isPresent() && control.isPresent(), "no chromium and chromedriver on the PATH");
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    ChromeOptions options = new ChromeOptions();
    options.setBinary(browser.get());
    options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu");
    options.addArguments("--disable-dev-shm-usage", "--hide-scrollbars");
    options.setCapability("goog:loggingPrefs", logs);
    ChromeDriverService service =
        new ChromeDriverService.Builder()
            .usingDriverExecutable(control.get())
            .usingAnyFreePort()
            .build();
    return new Browser(new ChromeDriver(service, options));
  }

  private static Optional<File> program(String... names) {
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.of(names)
        .flatMap(name -> Stream.of(path.split(File.pathSeparator)).map(dir -> new File(dir, name)))
        .filter(File::canExecute)
        .findFirst();
  }

  void screen(int width, int height) {
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 500));
  }

  void theme(String theme) {
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", theme))));
  }

  /** Loads the page anew. */
  void open(String url) {
    driver.get("about:blank");
    driver.get(url);
  }

  /** The first element, as soon as there is one. */
  WebElement await(String css) {
    return driver.findElement(By.cssSelector(css));
  }

  /** An element whose own text contains this, as soon as there is one. */
  WebElement awaitText(String text) {
    return driver.findElement(
        By.xpath("//*[text()[contains(normalize-space(.), '" + text + "')]]"));
  }

  /** A button with exactly this text, as soon as there is one. */
  WebElement awaitButton(String text) {
    return driver.findElement(By.xpath("//button[normalize-space(.) = '" + text + "']"));
  }

  int count(String css) {
    return ((Number) run("return document.querySelectorAll(arguments[0]).length", css)).intValue();
  }

  Object run(String script, Object... arguments) {
    return driver.executeScript(script, arguments);
  }

  /** Types keys where the focus is. */
  void press(CharSequence... keys) {
    new Actions(driver).sendKeys(keys).perform();
  }

  /** Moves the focus with Tab until it is on an element of the selector. */
  void tabTo(String css) {
    for (int i = 0; i < 60; i++) {
      if (Boolean.TRUE.equals(run("return document.activeElement.matches(arguments[0])", css))) {
        return;
      }
      press(Keys.TAB);
    }
    throw new AssertionError("Tab does not reach " + css);
  }

  /** Errors and warnings of the page, such as breaches of its content security policy. */
  void hasNotComplained() {
    List<LogEntry> entries = driver.manage().logs().get(LogType.BROWSER).getAll();
    assertThat(entries)
        .filteredOn(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
        .isEmpty();
  }

  @Override
  public void close() {
    driver.quit();
  }
}
