# Unterm's shell integration for PowerShell: marks prompts, commands, their output and exit codes (OSC 133, OSC 633 E),
# and tells the working directory (OSC 7). Run behind the profile by -NoExit -Command; keeps the person's own prompt.
# Changes no file.

# The nonce of marks comes in a file that is removed once it is read, so that no environment holds it.
if ($env:UNTERM_NONCE_FILE) {
    try {
        $Global:__UntermNonce = [IO.File]::ReadAllText($env:UNTERM_NONCE_FILE).Trim()
        [IO.File]::Delete($env:UNTERM_NONCE_FILE)
    } catch { }
    Remove-Item Env:UNTERM_NONCE_FILE
}

if ($Global:__UntermNonce -and -not $Global:__UntermOn) {
    $Global:__UntermOn = $true
    $Global:__UntermRan = $false
    $Global:__UntermPrompt = $function:prompt

    function Global:__UntermEscape([string]$text) {
        $text.Replace('\', '\\').Replace(';', '\x3b').Replace("`r", '').Replace("`n", '\x0a').Replace("`t", '\x09') -replace '\p{Cc}', ''
    }

    function Global:prompt {
        # Read first: everything below changes them.
        $succeeded = $?
        $native = $Global:LASTEXITCODE
        $esc = [char]27
        $bell = [char]7
        $out = ''
        # Before the command's end: a caller that waits for the end asks for the directory next.
        if ($PWD.Provider.Name -eq 'FileSystem') {
            $out += "$esc]7;kitty-shell-cwd://$([Environment]::MachineName)$($PWD.ProviderPath.Replace('\', '/'))$bell"
        }
        if ($Global:__UntermRan) {
            $code = if ($succeeded) { 0 } elseif ($native) { $native } else { 1 }
            $out += "$esc]133;D;$code;nonce=$Global:__UntermNonce$bell"
        }
        $Global:__UntermRan = $false
        $out += "$esc]133;A;nonce=$Global:__UntermNonce$bell"
        # The person's prompt sees what they would without this.
        $Global:LASTEXITCODE = $native
        if (-not $succeeded) { Write-Error 'unterm' -ErrorAction Ignore }
        $out += $Global:__UntermPrompt.Invoke()
        $Global:LASTEXITCODE = $native
        $out + "$esc]133;B$bell"
    }

    if (Get-Module -Name PSReadLine) {
        # What Unterm types for `run` is not kept in the history. The handler that was there decides about other lines.
        $Global:__UntermKeeps = (Get-PSReadLineOption).AddToHistoryHandler
        Set-PSReadLineOption -AddToHistoryHandler {
            param([string]$line)
            if ($line.StartsWith(' [Console]::Write("$([char]27)]1337;UntermRun=')) { return $false }
            if ($Global:__UntermKeeps) { return $Global:__UntermKeeps.Invoke($line) }
            $true
        }
        $Global:__UntermReadLine = $function:PSConsoleHostReadLine
        function Global:PSConsoleHostReadLine {
            $line = $Global:__UntermReadLine.Invoke()
            if ("$line".Trim()) {
                $Global:__UntermRan = $true
                $esc = [char]27
                $bell = [char]7
                [Console]::Write("$esc]633;E;$(__UntermEscape "$line");$Global:__UntermNonce$bell$esc]133;C;nonce=$Global:__UntermNonce$bell")
            }
            $line
        }
    }
}
